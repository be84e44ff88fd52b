// Numbers, sizes and times as people read them.

const number = new Intl.NumberFormat("en");

export const count = (value) => number.format(value);
export const counted = (value, one, many) => `${count(value)} ${value === 1 ? one : many}`;

export function bytes(value) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}

/** What a program cost; nobody knows a cost of 0. */
export function cost(ns) {
  return ns === 0 ? "–" : duration(ns);
}

export function duration(ns) {
  const ms = ns / 1e6;
  if (ns === 0) return "0 s";
  if (ms < 1) return `${Math.round(ns / 1000)} µs`;
  if (ms < 1000) return `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  const s = ms / 1000;
  if (s < 60) return `${s.toFixed(s < 10 ? 2 : 1)} s`;
  const minutes = Math.floor(s / 60);
  if (minutes < 60) return `${minutes} min ${Math.floor(s % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export const percent = (part, whole) => (whole === 0 ? "–" : `${(100 * part / whole).toFixed(1)} %`);

const dayFormat = new Intl.DateTimeFormat("en", {day: "numeric", month: "short", timeZone: "UTC"});
const momentFormat = new Intl.DateTimeFormat("en-GB", {dateStyle: "medium", timeStyle: "short"});
const clockFormat = new Intl.DateTimeFormat("en-GB", {timeStyle: "medium"});

export const day = (ms) => dayFormat.format(ms);
export const moment = (ms) => (ms ? momentFormat.format(ms) : "–");
export const clock = (ms) => clockFormat.format(ms);

export function ago(ms, now = Date.now()) {
  const s = Math.max(0, (now - ms) / 1000);
  if (!ms) return "never";
  if (s < 60) return "just now";
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 86400) return `${Math.floor(s / 3600)} h ago`;
  return counted(Math.floor(s / 86400), "day ago", "days ago");
}
