// The page: which view is shown, what the server says meanwhile, and its end.

import * as api from "./api.js";
import {h} from "./dom.js";
import {overview} from "./overview.js";
import {live} from "./live.js";
import {programs} from "./programs.js";
import {generations} from "./generations.js";
import {packs} from "./packs.js";
import {caches} from "./caches.js";
import {run} from "./run.js";

const views = {overview, live, programs, generations, packs, caches, run};
const REFRESH_MS = 10000;

const main = document.getElementById("main");
const banner = document.getElementById("banner");
const status = document.getElementById("status");
let current = null;  // {name, parameters, view}
let shown = "";      // what the view was made of
let round = 0;       // which showing is the latest
let statusTimer = 0;

// "#run/CACHE/START" is the view "run" with two parameters.
function place() {
  const [name, ...parameters] = location.hash.slice(1).split("/").map((part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return "";
    }
  });
  return Object.hasOwn(views, name) ? {name, parameters, view: views[name]} : {name: "overview", parameters: [], view: overview};
}

export function say(text, isBad = false) {
  clearTimeout(statusTimer);
  status.textContent = text;
  status.classList.toggle("bad", isBad);
  status.hidden = false;
  statusTimer = setTimeout(() => { status.hidden = true; }, isBad ? 20000 : 8000);
}

// Puts new elements in place of the old ones, and the focus, open details and scrolling where they were.
function put(elements) {
  const focus = document.activeElement?.id;
  const open = new Set([...main.querySelectorAll("details[open][id]")].map((each) => each.id));
  main.replaceChildren(...elements);
  for (const id of open) document.getElementById(id)?.setAttribute("open", "");
  if (focus && focus !== "main") document.getElementById(focus)?.focus({preventScroll: true});
}

// Asks for what the view shows; shows it anew where that is something else than before.
export async function refresh(isForced = false) {
  if (!current) return;
  const {view, parameters} = current;
  const mine = ++round;
  try {
    const data = view.load ? await view.load(api.get, parameters) : null;
    if (mine !== round) return;
    const text = JSON.stringify(data, (key, value) => (key === "now_ms" ? undefined : value));
    if (!isForced && text === shown) return;
    shown = text;
    put(view.show(data, {parameters, refresh, say, width: widthOf, rem: remOf()}));
  } catch (error) {
    if (!(error instanceof api.Refused)) throw error;
    if (mine !== round) return;
    // What was shown before the server ended stays, but not below the name of another view.
    if (!api.hasEnded() || shown === "") put([h("h1", {}, view.title), h("p.problem", {}, error.message)]);
  }
}

const remOf = () => parseFloat(getComputedStyle(document.documentElement).fontSize);

// Of what stands in so many columns in the main part, when they fit.
function widthOf(columns) {
  const style = getComputedStyle(main);
  const rem = remOf();
  const all = main.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
  const fitting = Math.max(1, Math.min(columns, Math.floor((all + 1.25 * rem) / (28.25 * rem))));
  return (all - (fitting - 1) * 1.25 * rem) / fitting - 2.5 * rem - 2;
}

async function navigate(event) {
  current?.view.leave?.();
  current = place();
  shown = "";
  for (const link of document.querySelectorAll(".top nav a")) {
    if (link.hash === `#${current.view.tab ?? current.name}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${current.view.title} · Cairn`;
  await refresh(true);
  // Those who read by the keyboard go on with the new view; at first, with the beginning of the page.
  if (event && (main.contains(document.activeElement) || document.activeElement === document.body)) main.focus({preventScroll: true});
  if (event) scrollTo(0, 0);
}

let lastAction = null;
function took(state) {
  views.live.take(state);
  const action = state.action;
  if (action && (action.number !== lastAction?.number || action.is_running !== lastAction?.is_running)) {
    // What ended before this page was opened is no news.
    if (action.is_running) say(`${action.what} …`);
    else if (lastAction) {
      say(action.is_done ? `${action.what}: done\n${action.message}` : `${action.what} failed\n${action.message}`, !action.is_done);
      refresh();
    }
  }
  lastAction = action ?? {number: 0};
}

api.onEnded((why) => {
  banner.textContent = why === "token"
    ? "This address is of a server that has ended. Run `cairn dashboard`, and open the address that it prints."
    : "The server of this page has ended; what you see is as it was. Run `cairn dashboard` again, and open the address that it prints.";
  banner.hidden = false;
  document.body.classList.add("ended");
});

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

if (api.hasToken) {
  addEventListener("hashchange", navigate);
  let resizing = 0;
  let width = innerWidth;
  addEventListener("resize", () => {
    clearTimeout(resizing);
    if (innerWidth === width) return;
    width = innerWidth;
    resizing = setTimeout(() => refresh(true), 200);
  });
  setInterval(() => {
    if (!document.hidden && !api.hasEnded() && !document.querySelector("dialog[open]")) refresh();
  }, REFRESH_MS);
  navigate();
  api.follow(took);
} else {
  put([
    h("h1", {}, "Cairn"),
    h("p", {}, "This page opens with the whole address that ", h("code", {}, "cairn dashboard"), " prints: it ends in a token that lets you in. Each tab needs it once."),
  ]);
}
