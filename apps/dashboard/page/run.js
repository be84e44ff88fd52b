import {causes} from "./charts.js";
import {empty, h, sources, table} from "./dom.js";
import * as format from "./format.js";

export function runTable(runs) {
  return table("Last runs", [
    {label: "Application", head: true, of: (run) => h("a", {href: `#run/${encodeURIComponent(run.cache)}/${run.start_ms}`}, run.application)},
    {label: "Started", time: true, of: (run) => [format.moment(run.start_ms), run.is_running && [" ", h("span.badge", {}, "runs")]]},
    {label: "Programs", number: true, of: (run) => format.count(run.lookups)},
    {label: "From the cache", number: true, of: (run) => format.percent(run.hits, run.lookups)},
    {label: "Compiling took", number: true, of: (run) => format.duration(run.compile_ns)},
    {label: "Saved", number: true, of: (run) => format.duration(run.saved_ns)},
  ], runs);
}

const missesOf = (run) => Object.entries(run.outcomes)
  .filter(([name, outcome]) => !name.startsWith("hit") && outcome.programs > 0)
  .map(([name, outcome]) => ({words: run.words[name] ?? name, count: outcome.programs, ns: outcome.spent_ns}));

export const run = {
  title: "Run",
  tab: "overview",
  load: (get, [cache, start]) => get("run", {cache, start}),
  show(data) {
    const words = Object.fromEntries(data.misses.map((miss) => [miss.outcome, miss.words]));
    const misses = missesOf({...data, words});
    return [
      h("div.head", {}, h("h1", {}, `${data.application}, process ${data.process}`), h("a", {href: "#overview"}, "Back to the overview")),
      h("p.hint", {}, `Started ${format.moment(data.start_ms)}; ${format.count(data.hits)} of ${format.counted(data.programs, "program", "programs")} from the cache; about ${format.duration(data.saved_ns)} saved; in `, h("span.mono", {}, data.cache)),
      h("section.card", {"aria-labelledby": "run-causes"}, h("h2", {id: "run-causes"}, "Misses by cause"),
        misses.length ? causes(misses) : empty("Nothing was missed", "All programs came from the cache.")),
      h("section.card", {"aria-labelledby": "run-misses"}, h("h2", {id: "run-misses"}, "Programs that were made anew"),
        data.misses.length ? table("Programs that were made anew", [
          {label: "When", head: true, of: (miss) => format.clock(miss.time_ms)},
          {label: "Cause", of: (miss) => [miss.words ?? miss.outcome, miss.why && h("span.sub", {}, miss.why)], wide: true},
          {label: "Took", number: true, of: (miss) => format.cost(miss.cost_ns)},
          {label: "Program", wide: true, of: (miss) => [h("span.mono", {}, miss.key ?? "–"), sources(miss.sources, `sources-${data.misses.indexOf(miss)}`, false)]},
        ], [...data.misses].reverse()) : empty("None is remembered", "The cache keeps the last ones only."),
        data.has_older_misses && h("p.hint", {}, "There were more, which are no longer remembered.")),
    ];
  },
};
