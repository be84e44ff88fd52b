import {empty, h, table} from "./dom.js";
import * as format from "./format.js";

const fileName = (path) => path.slice(path.lastIndexOf("/") + 1);

export const packs = {
  title: "Packs",
  load: (get) => get("packs"),
  show(data) {
    return [
      h("div.head", {}, h("h1", {}, "Packs"), h("p.hint", {}, "Compiled programs that lie under the caches")),
      h("section.card", {"aria-label": "Installed packs"},
        data.packs.length ? table("Installed packs", [
          {label: "Pack", head: true, of: (pack) => [fileName(pack.file), h("span.sub.mono", {}, pack.file)]},
          {label: "Of", of: (pack) => (pack.problem ? h("span.problem", {}, pack.problem) : (pack.applications ?? []).join(", ") || "–"), wide: true},
          {label: "For", wide: true, of: (pack) => [[...new Set(pack.drivers ?? [])].join("; ") || "–", pack.about && h("span.sub", {}, pack.about)]},
          {label: "Size", number: true, of: (pack) => (pack.bytes === undefined ? "–" : format.bytes(pack.bytes))},
          {label: "Signed", wide: true, of: (pack) => [pack.signer ?? "–", pack.is_of_system && h("span.sub", {}, "installed for all users")]},
        ], data.packs) : empty("No packs are installed", "Install one with ", h("code", {}, "cairn pack install FILE"), ", or make one of an application in ", h("a", {href: "#caches"}, "Caches"), ".")),
    ];
  },
};
