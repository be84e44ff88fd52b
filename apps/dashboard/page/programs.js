import {empty, h, sources, table} from "./dom.js";
import * as format from "./format.js";

const OPEN = 5;  // as many as `cairn why` shows

export const programs = {
  title: "Programs",
  load: (get) => get("programs"),
  show(data) {
    return [
      h("div.head", {}, h("h1", {}, "The slowest programs"), h("p.hint", {}, "What each program or shader cost when it was made; a hit saves about as much")),
      h("section.card", {"aria-label": "The slowest programs"},
        data.programs.length ? table("The slowest programs", [
          {label: "Application", head: true, of: (each) => each.application || h("span.mono", {}, each.cache)},
          {label: "Cost", number: true, of: (each) => format.duration(each.cost_us * 1000)},
          {label: "Size", number: true, of: (each) => format.bytes(each.bytes)},
          {label: "Stored", time: true, of: (each) => format.moment(each.stored_at_ms)},
          {label: "Key", wide: true, of: (each) => [h("span.mono", {}, each.key), h("span.sub.mono", {}, each.cache),
            sources(each.sources, `sources-${each.cache}-${each.key}`, data.programs.indexOf(each) < OPEN)]},
        ], data.programs) : empty("No program has a cost yet", "Programs appear here once an application has stored what it compiled: ", h("code", {}, "cairn run -- APP"), ".")),
    ];
  },
};
