// Small charts. Each has a sentence for who does not see it, and a table with all its numbers.

import {h, svg, table} from "./dom.js";
import * as format from "./format.js";

const DAY = 86400000;

function withTable(chart, caption, columns, rows) {
  return h("div", {}, chart, h("details", {}, h("summary", {}, "Show as a table"), table(caption, columns, rows)));
}

// Part of look-ups that were found, for each day, and how many there were.
export function hitRate(days, todayMs, width, height, rem) {
  const left = 3.5 * rem, right = rem, top = rem, bottom = 2.1 * rem;
  const first = Math.min(days.length ? days[0].day_ms : todayMs, todayMs - 13 * DAY);
  const span = Math.max(todayMs - first, DAY);
  const x = (ms) => left + (width - left - right) * (ms - first) / span;
  const y = (part) => top + (height - top - bottom) * (1 - part);
  const most = Math.max(1, ...days.map((each) => each.lookups));
  const points = days.filter((each) => each.lookups > 0)
    .map((each) => ({...each, part: each.hits / each.lookups, x: x(each.day_ms), y: y(each.hits / each.lookups)}));
  const path = points.map((point, i) => `${i ? "L" : "M"}${point.x.toFixed(1)} ${point.y.toFixed(1)}`).join("");
  const bar = Math.max(2, Math.min(1.5 * rem, (width - left - right) * DAY / span * 0.6));
  const ticks = Math.max(2, Math.min(6, Math.floor(width / (7 * rem))));
  const latest = points.at(-1);
  const chart = svg("svg", {
    class: "chart", role: "img",
    "aria-label": latest ? `Hit rate by day; the latest, of ${format.day(latest.day_ms)}, is ${format.percent(latest.hits, latest.lookups)}`
      : "Hit rate by day: nothing yet",
  },
  [0, 0.5, 1].map((part) => [
    svg("line", {class: "grid", x1: left, x2: width - right, y1: y(part), y2: y(part)}),
    svg("text", {x: left - rem / 2, y: y(part) + rem / 4, "text-anchor": "end"}, `${100 * part} %`),
  ]),
  points.map((point) => {
    const tall = (height - top - bottom) * point.lookups / most;
    return svg("rect", {class: "count", x: point.x - bar / 2, width: bar, y: height - bottom - tall, height: tall});
  }),
  Array.from({length: ticks}, (_, i) => {
    const ms = first + Math.round(span / DAY * i / (ticks - 1)) * DAY;
    const anchor = i === 0 ? "start" : i === ticks - 1 ? "end" : "middle";
    return svg("text", {x: x(ms), y: height - rem / 2, "text-anchor": anchor}, format.day(ms));
  }),
  points.length > 1 && svg("path", {class: "area", d: `${path}L${latest.x} ${y(0)}L${points[0].x} ${y(0)}Z`}),
  svg("path", {class: "line", d: path}),
  points.map((point) => svg("circle", {class: "point", cx: point.x, cy: point.y, r: (points.length > 40 ? 0.16 : 0.25) * rem},
    svg("title", {}, `${format.day(point.day_ms)}: ${format.percent(point.hits, point.lookups)} of ${format.counted(point.lookups, "program", "programs")}`))));
  return withTable(chart, "Hit rate by day", [
    {label: "Day (UTC)", head: true, of: (each) => format.day(each.day_ms)},
    {label: "Programs", number: true, of: (each) => format.count(each.lookups)},
    {label: "From the cache", number: true, of: (each) => format.percent(each.hits, each.lookups)},
    {label: "Saved", number: true, of: (each) => format.duration(each.saved_ns)},
  ], [...days].reverse());
}

// Misses by cause: [{words, count, ns}].
export function causes(misses) {
  const sorted = [...misses].sort((a, b) => b.count - a.count);
  const most = Math.max(1, ...sorted.map((each) => each.count));
  return h("ul.bars", {}, sorted.map((each) => h("li", {},
    h("span", {}, each.words),
    h("span.amount", {}, `${format.count(each.count)} · ${format.duration(each.ns)}`),
    h("div.track", {"aria-hidden": "true"}, h("div.fill", {style: {width: `${100 * each.count / most}%`}})))));
}

// Puts sizes into a rectangle so that none is long and thin (squarified). [{value, ...}] -> [{x, y, w, h, item}].
export function squarify(items, x, y, w, hgt) {
  const placed = [];
  const total = items.reduce((sum, item) => sum + item.value, 0);
  if (total === 0 || w <= 0 || hgt <= 0) return placed;
  const scale = w * hgt / total;
  const queue = [...items].sort((a, b) => b.value - a.value).map((item) => ({item, area: item.value * scale}));
  const worst = (row, side) => {
    const sum = row.reduce((all, each) => all + each.area, 0);
    const thickness = sum / side;
    return Math.max(...row.map((each) => Math.max(thickness / (each.area / thickness), each.area / thickness / thickness)));
  };
  for (let i = 0; i < queue.length;) {
    const side = Math.min(w, hgt);
    const row = [queue[i++]];
    while (i < queue.length && worst([...row, queue[i]], side) <= worst(row, side)) row.push(queue[i++]);
    const thickness = row.reduce((all, each) => all + each.area, 0) / side;
    let at = 0;
    for (const {item, area} of row) {
      const length = area / thickness;
      placed.push(w >= hgt ? {x, y: y + at, w: thickness, h: length, item} : {x: x + at, y, w: length, h: thickness, item});
      at += length;
    }
    if (w >= hgt) {
      x += thickness;
      w -= thickness;
    } else {
      y += thickness;
      hgt -= thickness;
    }
  }
  return placed;
}

// Disk by application, and there by generation: [{name, generations: [{name, bytes}]}].
export function treemap(applications, width, height, rem) {
  const groups = applications.map((each, i) => ({...each, color: i % 8 + 1, value: each.generations.reduce((sum, one) => sum + one.bytes, 0)}))
    .filter((each) => each.value > 0);
  const total = groups.reduce((sum, each) => sum + each.value, 0);
  const place = (box) => ({left: `${100 * box.x / width}%`, top: `${100 * box.y / height}%`, width: `${100 * box.w / width}%`, height: `${100 * box.h / height}%`});
  const tiles = [];
  for (const group of squarify(groups, 0, 0, width, height)) {
    const one = group.item;
    // Of several generations, each has a tile below the application's name, where there is room for one.
    const hasName = one.generations.length > 1 && group.w > 4 * rem && group.h > 4 * rem;
    const head = hasName ? 1.5 * rem : 0;
    if (hasName) tiles.push(h("div.group-name", {style: {...place({...group, h: head}), right: "auto"}}, one.name));
    const boxes = squarify(one.generations.map((each) => ({...each, value: each.bytes})), group.x, group.y + head, group.w, group.h - head);
    for (const box of boxes) {
      const name = hasName ? box.item.name : one.name;
      const isLarge = box.w > 4 * rem && box.h > 1.7 * rem;
      tiles.push(h(`div.tile-box.color-${one.color}`, {style: place(box), title: `${one.name}, ${box.item.title}: ${format.bytes(box.item.bytes)}`},
        isLarge && h("span.name", {}, name), isLarge && box.h > 2.9 * rem && h("span.size", {}, format.bytes(box.item.bytes))));
    }
  }
  const largest = [...groups].sort((a, b) => b.value - a.value)[0];
  const chart = h("div.treemap", {role: "img", "aria-label": `${format.bytes(total)} of disk by application; ${largest ? `${largest.name} takes the most, ${format.bytes(largest.value)}` : "nothing yet"}`}, tiles);
  return withTable(chart, "Disk by application and generation", [
    {label: "Application", head: true, of: (row) => row.application},
    {label: "Generation", wide: true, of: (row) => row.title},
    {label: "On disk", number: true, of: (row) => format.bytes(row.bytes)},
  ], groups.flatMap((group) => group.generations.map((each) => ({application: group.name, ...each}))).sort((a, b) => b.bytes - a.bytes));
}
