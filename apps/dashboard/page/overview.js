import {causes, hitRate, treemap} from "./charts.js";
import {empty, h} from "./dom.js";
import * as format from "./format.js";
import {runTable} from "./run.js";

let span = "all";
const SPANS = {today: "Today", week: "7 days", all: "All"};

function tile(label, value, note) {
  return h("div.card.tile", {}, h("p.label", {}, label), h("p.value", {}, value), h("p.note", {}, note));
}

function tiles(data) {
  const {today, week, all} = data.totals;
  const {disk_bytes, driver_bytes, entries} = data.total;
  return h("div.tiles", {},
    tile("Saved today", format.duration(today.saved_ns), `${format.count(today.hits)} of ${format.counted(today.lookups, "program", "programs")} from the cache`),
    tile("Saved in all", format.duration(all.saved_ns), `${format.count(all.hits)} of ${format.counted(all.lookups, "program", "programs")} from the cache`),
    tile("Hit rate, 7 days", format.percent(week.hits, week.lookups), `compiling the others took ${format.duration(week.compile_ns)}`),
    tile("On disk", format.bytes(disk_bytes + driver_bytes), `${format.counted(entries, "entry", "entries")}${driver_bytes ? `; ${format.bytes(driver_bytes)} are the drivers' machine code` : ""}`));
}

function missesCard(data, again) {
  const misses = data.totals[span].misses;
  const choose = Object.entries(SPANS).map(([name, text]) => h("button", {
    type: "button", id: `span-${name}`, "aria-pressed": String(span === name),
    onclick: () => {
      span = name;
      again(true);
    },
  }, text));
  return h("section.card", {"aria-labelledby": "misses-title"},
    h("div.head", {}, h("h2", {id: "misses-title"}, "Misses by cause"), h("div.segments", {role: "group", "aria-label": "Time"}, choose)),
    misses.length ? causes(misses)
      : h("div.bars", {}, empty(data.totals[span].lookups ? "Nothing was missed" : "Nothing was looked up", data.totals[span].lookups ? "All programs came from the cache." : "In this time no application has run through Cairn.")));
}

const shortPath = (path, home) => (home && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path);

export function applicationsOf(caches) {
  const applications = new Map();
  for (const cache of caches) {
    const name = cache.application ?? cache.identifier;
    if (!applications.has(name)) applications.set(name, []);
    applications.get(name).push({name: cache.identifier.slice(-16, -8), title: cache.about || cache.identifier, bytes: cache.disk_bytes ?? 0});
  }
  return [...applications].map(([name, generations]) => ({name, generations}));
}

export const overview = {
  title: "Overview",
  load: async (get) => {
    const [data, runs] = await Promise.all([get("overview"), get("runs")]);
    return {...data, runs: runs.runs.slice(0, 8)};
  },
  show(data, {refresh, width, rem}) {
    const head = h("div.head", {}, h("h1", {}, "Overview"), h("p.hint.mono", {}, shortPath(data.root, data.home)));
    if (data.caches.length === 0 && data.totals.all.lookups === 0) {
      return [head, h("section.card", {}, empty("No application has run through Cairn yet",
        "Start one with ", h("code", {}, "cairn run -- APP"), ", or switch Cairn on for your sessions with ", h("code", {}, "cairn enable"), ". What it compiles is kept, and shown here."))];
    }
    const across = width(1);
    const tall = Math.min(30 * rem, Math.max(18 * rem, 0.34 * innerWidth));
    return [
      head,
      tiles(data),
      h("div.columns", {},
        h("section.card", {"aria-labelledby": "rate-title"},
          h("h2", {id: "rate-title"}, "Hit rate over time"),
          data.days.length ? hitRate(data.days, data.today_ms, width(2), 15 * rem, rem) : empty("No days yet", "Each day on which an application runs is a point here."),
          data.is_of_runs && h("p.hint", {}, "Of the last runs that the caches remember; days are counted from now on.")),
        missesCard(data, refresh)),
      h("section.card", {"aria-labelledby": "disk-title"},
        h("h2", {id: "disk-title"}, "Disk by application and generation"),
        data.total.disk_bytes ? treemap(applicationsOf(data.caches), across, tall, rem) : empty("No caches", "They take no room.")),
      h("section.card", {"aria-labelledby": "runs-title"},
        h("h2", {id: "runs-title"}, "Last runs"),
        data.runs.length ? runTable(data.runs) : empty("No runs are remembered", "Caches forget them when they are cleared.")),
    ];
  },
};
