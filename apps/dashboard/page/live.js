import {empty, h, table} from "./dom.js";
import * as format from "./format.js";

const SHOWN = 100;
const SAY_EVERY_MS = 15000;

let state = {running: [], events: [], now_ms: 0};
const events = [];           // the latest first
const before = new Map();    // look-ups of a running process, a state ago
let unsaid = 0;
let saidAt = 0;

const keyOf = (run) => `${run.cache}/${run.process}/${run.start_ms}`;

function rates(next) {
  const seconds = Math.max(0.2, (next.now_ms - state.now_ms) / 1000);
  for (const run of next.running) {
    const old = before.get(keyOf(run));
    run.per_second = old === undefined || state.now_ms === 0 ? 0 : Math.max(0, (run.lookups - old) / seconds);
  }
  before.clear();
  for (const run of next.running) before.set(keyOf(run), run.lookups);
}

const queue = (entries, bytes) => `${format.counted(entries, "entry", "entries")}, ${format.bytes(bytes)}`;

function runningTable() {
  if (state.running.length === 0) {
    return empty("No application runs through Cairn now", "Start one with ", h("code", {}, "cairn run -- APP"), ": it appears here at its first program.");
  }
  return table("Running applications", [
    {label: "Application", head: true, of: (run) => run.application},
    {label: "Process", number: true, of: (run) => String(run.process)},
    {label: "Programs", number: true, of: (run) => format.count(run.lookups)},
    {label: "Each second", number: true, of: (run) => format.count(Math.round(run.per_second))},
    {label: "From the cache", number: true, of: (run) => format.percent(run.hits, run.lookups)},
    {label: "Saved", number: true, of: (run) => format.duration(run.saved_ns)},
    {label: "Not on disk yet", number: true, of: (run) => (run.queued_entries === 0 ? "–" : queue(run.queued_entries, run.queued_bytes))},
    {label: "Just now", of: (run) => (run.making_ms === null ? "–" : h("span.badge.making", {}, `compiles, for ${format.duration(run.making_ms * 1e6)}`))},
  ], state.running);
}

function eventItem(event) {
  return h("li", {}, h("span.when", {}, format.clock(event.time_ms)), h("span.app", {}, event.application),
    h("span.why", {}, event.words, event.why && h("span.sub", {}, `: ${event.why}`)), h("span.cost", {}, format.cost(event.cost_ns)));
}

function draw() {
  const now = document.getElementById("live-now");
  const list = document.getElementById("live-events");
  if (!now || !list) return;
  now.replaceChildren(runningTable());
  const sum = (member) => state.running.reduce((all, run) => all + run[member], 0);
  const queued = sum("queued_entries");
  document.getElementById("live-queue").textContent = queued === 0 ? "Nothing waits to be written to disk"
    : `Waiting to be written to disk: ${queue(queued, sum("queued_bytes"))}`;
  const wanted = events.slice(0, SHOWN);
  // Nothing moves under somebody who has scrolled down to read.
  const isRead = list.childElementCount > 0 && list.getBoundingClientRect().top < 0;
  if (isRead || list.dataset.last === String(wanted[0]?.number ?? 0)) return;
  list.dataset.last = wanted[0]?.number ?? 0;
  list.replaceChildren(...(wanted.length ? wanted.map(eventItem)
    : [h("li.none", {}, empty("No misses yet", "Each program that was not found appears here, with the reason."))]));
}

// Only so often, and only while the view is open.
function announce(nowMs) {
  if (unsaid === 0 || nowMs - saidAt < SAY_EVERY_MS || !document.getElementById("live-events")) return;
  document.getElementById("announcer").textContent = `${format.counted(unsaid, "program was", "programs were")} made anew`;
  unsaid = 0;
  saidAt = nowMs;
}

export const live = {
  title: "Live",
  take(next) {
    const isFirst = state.now_ms === 0;
    rates(next);
    state = next;
    for (const event of next.events) events.unshift(event);
    events.length = Math.min(events.length, 500);
    if (!isFirst) unsaid += next.events.length;
    draw();
    announce(next.now_ms);
  },
  show() {
    setTimeout(draw);
    return [
      h("div.head", {}, h("h1", {}, "Live"), h("p.hint", {}, "Once a second")),
      h("section.card", {"aria-labelledby": "now-title"}, h("h2", {id: "now-title"}, "Running now"), h("p.hint", {id: "live-queue"}, "\u00a0"), h("div.live-now", {id: "live-now"}, runningTable())),
      h("section.card", {"aria-labelledby": "events-title"}, h("h2", {id: "events-title"}, "Programs that were made anew"), h("ol.events", {id: "live-events"})),
    ];
  },
};
