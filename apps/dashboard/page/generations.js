import {empty, h, table} from "./dom.js";
import * as format from "./format.js";

const chosen = {application: "", from: "", to: ""};

const label = (each) => `${each.identifier.slice(-16)} · ${each.about || "no description"} · ${format.ago(each.used_at_ms)}`;

function pick(name, text, options, value, change) {
  return h("label", {}, text, h("select", {id: name, onchange: (event) => change(event.target.value)},
    options.map(([key, words]) => h("option", {value: key, selected: key === value}, words))));
}

// The choice, where it is still there; else the two latest ones of the application that was used last.
function choose(all) {
  const names = [...new Set(all.map((each) => each.application))];
  if (!names.includes(chosen.application)) {
    // Of one that has something to compare, if there is one.
    chosen.application = names.find((name) => all.filter((each) => each.application === name).length > 1) ?? names[0] ?? "";
  }
  const mine = all.filter((each) => each.application === chosen.application);
  const known = new Set(mine.map((each) => each.identifier));
  if (!known.has(chosen.to)) chosen.to = mine[0]?.identifier ?? "";
  if (!known.has(chosen.from)) chosen.from = (mine[1] ?? mine[0])?.identifier ?? "";
  return {names, mine};
}

export const generations = {
  title: "Generations",
  async load(get) {
    const data = await get("generations");
    choose(data.generations);
    const isPair = chosen.from !== chosen.to;
    const compared = isPair ? await get("differences", {from: chosen.from, to: chosen.to}) : {fields: []};
    return {...data, fields: compared.fields, isPair, ...chosen};
  },
  show(data, {refresh}) {
    const head = h("div.head", {}, h("h1", {}, "Generations"), h("p.hint", {}, "A cache for each build of an application and each driver"));
    if (data.generations.length === 0) {
      return [head, h("section.card", {}, empty("No generations yet", "The first start of an application makes one: ", h("code", {}, "cairn run -- APP"), "."))];
    }
    const {names, mine} = choose(data.generations);
    const change = (name) => (value) => {
      chosen[name] = value;
      refresh(true);
    };
    const options = mine.map((each) => [each.identifier, label(each)]);
    const short = (identifier) => identifier.slice(-16);
    return [
      head,
      h("section.card", {"aria-label": "What to compare"}, h("div.fields", {},
        pick("gen-app", "Application", names.sort().map((name) => [name, name]), chosen.application, change("application")),
        pick("gen-from", "This generation", options, chosen.from, change("from")),
        pick("gen-to", "and this one", options, chosen.to, change("to")))),
      h("section.card", {"aria-labelledby": "diff-title"},
        h("h2", {id: "diff-title"}, "In what they differ"),
        !data.isPair ? empty("There is nothing to compare", mine.length > 1 ? "Choose two different generations." : "This application has one generation.")
          : data.fields.length === 0 ? empty("They differ in nothing that is known", "Or one of them is gone.")
            : table("In what two generations differ", [
              {label: "Field", head: true, of: (each) => each.field},
              {label: short(data.from), wide: true, of: (each) => h("span.mono", {}, each.from || "none")},
              {label: short(data.to), wide: true, of: (each) => h("span.mono", {}, each.to || "none")},
            ], data.fields)),
      h("section.card", {"aria-labelledby": "gens-title"},
        h("h2", {id: "gens-title"}, `All of ${chosen.application}`),
        table(`Generations of ${chosen.application}`, [
          {label: "Generation", head: true, of: (each) => h("span.mono", {}, short(each.identifier))},
          {label: "Driver", wide: true, of: (each) => each.problem ? h("span.problem", {}, each.problem) : each.about || "–"},
          {label: "Entries", number: true, of: (each) => format.count(each.entries)},
          {label: "On disk", number: true, of: (each) => format.bytes(each.disk_bytes)},
          {label: "Last used", time: true, of: (each) => format.moment(each.used_at_ms)},
        ], mine)),
    ];
  },
};
