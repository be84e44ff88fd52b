import * as api from "./api.js";
import {ask} from "./dialog.js";
import {empty, h} from "./dom.js";
import * as format from "./format.js";

const SIZE = /^\s*\d+(\.\d+)?\s*([KMGT]i?B?)?\s*$/i;

async function perform(request, say) {
  try {
    const state = await api.act(request);
    say(`${state.what} …`);
  } catch (error) {
    if (!(error instanceof api.Refused)) throw error;
    say(error.message, true);
  }
}

// Questions before the work, by action. `what`: {name, request, entries, bytes, caches}.
const QUESTIONS = {
  clear: (what) => ({
    title: `Clear ${what.name}?`, yes: "Clear", isDangerous: true,
    text: [h("p", {}, `${format.counted(what.entries, "entry goes", "entries go")}, ${format.bytes(what.bytes)}, of ${format.counted(what.caches, "cache", "caches")}.`),
      h("ul", {}, h("li", {}, "What applications need next is compiled again."), h("li", {}, "Those that are running keep working."))],
  }),
  remove: (what) => ({
    title: `Remove ${what.name}?`, yes: "Remove", isDangerous: true,
    text: [h("p", {}, `${format.counted(what.caches, "cache goes", "caches go")} with ${format.counted(what.entries, "entry", "entries")} and what they remember of runs: ${format.bytes(what.bytes)}.`),
      h("ul", {}, h("li", {}, "What applications need next is compiled again."), h("li", {}, "Those that are running keep working."))],
  }),
  compress: (what) => ({
    title: `Compress ${what.name}?`, yes: "Compress",
    text: [h("p", {}, `${format.bytes(what.bytes)} in ${format.counted(what.caches, "cache", "caches")} become smaller. Nothing is lost; reading an entry from disk takes some microseconds more.`)],
  }),
  limit: (what) => ({
    title: `Limit ${what.name}`, yes: "Set the limit",
    text: [h("p", {}, "So much room may all caches of this application take together, from its next start. What does not fit is evicted then. It is written as ", h("code", {}, "limit"), " into the application's section of your configuration.")],
    field: {label: "Size, such as 512M or 2G", value: "1G", key: "size", check: (text) => (SIZE.test(text) ? "" : "Write a number, and K, M, G or T.")},
  }),
  pin: (what) => ({
    title: `Pin ${what.name}?`, yes: "Pin",
    text: [h("p", {}, `${format.counted(what.entries, "entry is", "entries are")} stored again with a mark: when room must be made, others of the same cache go first. Until old copies are tidied up, that takes up to ${format.bytes(what.bytes)} more. What the application stores later is not pinned.`)],
  }),
  unpin: (what) => ({
    title: `Unpin ${what.name}?`, yes: "Unpin",
    text: [h("p", {}, "All its entries are evicted like others again. They are stored once more for that.")],
  }),
  pack: (what) => ({
    title: `Pack ${what.name}`, yes: "Write the pack",
    text: [h("p", {}, "What is compiled for this application goes into a new file, for other machines with the same driver. The pack is not signed."),],
    field: {label: "File, in your home", value: what.home ? `${what.home}/${what.plain}.pack` : "", key: "file", check: (text) => (text.startsWith("/") && text.endsWith(".pack") ? "" : "Write the whole path of a file that ends in .pack.")},
  }),
};

const WORDS = {clear: "Clear", compress: "Compress", remove: "Remove", limit: "Limit", pin: "Pin", unpin: "Unpin", pack: "Pack"};

function buttons(what, actions, say) {
  return h("div.buttons", {}, actions.map((action) => h("button", {
    type: "button", id: `${action}-${what.id}`, class: action === "remove" || action === "clear" ? "danger" : null,
    "aria-label": `${WORDS[action]} ${what.name}`,
    onclick: async () => {
      const question = QUESTIONS[action](what);
      const answer = await ask(question);
      if (answer === null) return;
      await perform({action, ...what.request, ...(question.field ? {[question.field.key]: answer} : {})}, say);
    },
  }, what.request.all ? `${WORDS[action]} all …` : `${WORDS[action]} …`)));
}

function sum(caches) {
  return {entries: caches.reduce((all, each) => all + (each.entries ?? 0), 0), bytes: caches.reduce((all, each) => all + (each.disk_bytes ?? 0), 0), caches: caches.length};
}

function cacheItem(cache, say) {
  const what = {id: cache.identifier, name: cache.identifier, request: {cache: cache.identifier}, ...sum([cache])};
  return h("li.cache", {},
    h("div", {}, h("span.mono", {}, cache.identifier), cache.about && h("p.hint", {}, cache.about),
      cache.problem ? h("p.problem", {}, cache.problem)
        : h("p.hint", {}, `${format.counted(cache.entries, "entry", "entries")}, ${format.bytes(cache.disk_bytes)} of ${format.bytes(cache.limit_bytes)}; used ${format.ago(cache.used_at_ms)}`)),
    buttons(what, ["clear", "compress", "remove"], say));
}

function applicationCard(name, caches, data, say) {
  const numbers = sum(caches);
  const pinned = caches.reduce((all, each) => all + (data.pinned[each.identifier] ?? 0), 0);
  const what = {id: name, name, plain: name, home: data.home, request: {application: name}, ...numbers};
  const actions = ["clear", "compress", "limit", pinned > 0 && pinned >= numbers.entries ? "unpin" : "pin", "pack", "remove"];
  return h("section.card", {"aria-label": name},
    h("div.head", {}, h("div", {}, h("h2", {}, name),
      h("p.hint", {}, `${format.counted(numbers.caches, "generation", "generations")}, ${format.counted(numbers.entries, "entry", "entries")}, ${format.bytes(numbers.bytes)}${pinned ? `; ${format.count(pinned)} pinned` : ""}`)),
    buttons(what, actions, say)),
    h("details", {id: `caches-of-${name}`}, h("summary", {}, numbers.caches === 1 ? "Its cache" : `Its ${numbers.caches} caches`),
      h("ul.caches", {}, caches.map((cache) => cacheItem(cache, say)))));
}

export const caches = {
  title: "Caches",
  load: async (get) => {
    const [data, programs] = await Promise.all([get("overview"), get("programs")]);
    return {caches: data.caches, home: data.home, pinned: programs.pinned};
  },
  show(data, {say}) {
    const head = h("h1", {}, "Caches");
    if (data.caches.length === 0) {
      return [head, h("section.card", {}, empty("There are no caches", "The first start of an application makes one: ", h("code", {}, "cairn run -- APP"), "."))];
    }
    const applications = new Map();
    const others = [];
    for (const cache of data.caches) {
      if (cache.application === null) others.push(cache);
      else applications.set(cache.application, [...(applications.get(cache.application) ?? []), cache]);
    }
    const all = {id: "all", name: "all caches", request: {all: true}, ...sum(data.caches)};
    return [
      h("div.head", {}, head, buttons(all, ["clear", "compress"], say)),
      ...[...applications].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, list]) => applicationCard(name, list, data, say)),
      others.length > 0 && h("section.card", {"aria-labelledby": "others-title"}, h("h2", {id: "others-title"}, "Other caches"), h("ul.caches", {}, others.map((cache) => cacheItem(cache, say)))),
    ].filter(Boolean);
  },
};
