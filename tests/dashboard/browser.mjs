// SPDX-License-Identifier: MIT
// The dashboard in a real browser: every view and action in both themes and three sizes (the dark one in all of them
// with CAIRN_TEST_LONG only), an application that runs beside it, a large root, the server that ends under it, and
// hostile pages.
//
// Usage: node browser.mjs FOLDER_OF_MODULES CHROMIUM CAIRN_DASHBOARD MAKE_ROOT CAIRN SCREENSHOTS [GAME]

import {spawn, spawnSync} from "node:child_process";
import {createRequire} from "node:module";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import assert from "node:assert/strict";
import {attack} from "./attack.mjs";

// The names in ONLY, with commas, or all of them.
const [modules, chromium, dashboard, makeRoot, cairn, screenshots, game = ""] = process.argv.slice(2);
const require = createRequire(path.join(modules, "node_modules/"));
const puppeteer = require("puppeteer-core");
const axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const SIZES = {phone: [360, 740], desktop: [1280, 800], large: [3840, 2160]};
const THEMES = ["light", "dark"];
const VIEWS = ["overview", "live", "programs", "generations", "packs", "caches"];

const work = fs.mkdtempSync(path.join(os.tmpdir(), "cairn-dashboard-"));
const home = path.join(work, "home");
fs.mkdirSync(path.join(home, "packs"), {recursive: true});
fs.mkdirSync(screenshots, {recursive: true});
const children = new Set();
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function start(command, args, environment = {}) {
  // A group of its own, which can be ended as a whole: `cairn run` cannot pass SIGKILL on to its game.
  const child = spawn(command, args, {detached: true, stdio: ["ignore", "pipe", "inherit"], env: {...process.env, HOME: home, XDG_CONFIG_HOME: "", ...environment}});
  children.add(child);
  child.on("exit", () => children.delete(child));
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      if (text.includes("\n")) resolve({child, line: text.split("\n")[0]});
    });
    child.on("exit", () => reject(new Error(`${command} has ended: ${text}`)));
  });
}
async function serve(root) {
  const {child, line} = await start(dashboard, ["--no-open"], {CAIRN_DIR: root});
  const address = /http:\S+/.exec(line)[0];
  return {child, address, port: new URL(address).port, token: address.split("=")[1]};
}
// Any program's connection may get a port that has become free, for as long as it lasts.
async function startOnPort(port, root) {
  for (let attempt = 1; ; ++attempt) {
    try {
      return await start(dashboard, ["--no-open", "--port", port], {CAIRN_DIR: root});
    } catch (error) {
      if (attempt === 100) throw error;
      await sleep(200);
    }
  }
}
function run(command, ...args) {
  const done = spawnSync(command, args, {encoding: "utf8", env: {...process.env, HOME: home, XDG_CONFIG_HOME: ""}});
  assert.equal(done.status, 0, `${command} ${args.join(" ")}: ${done.stdout}${done.stderr}`);
  return done.stdout;
}
function makeDemo(name) {
  const root = path.join(work, name);
  run(makeRoot, "demo", root);
  run(cairn, "pack", "create", "--dir", root, "--about", "For the living room", path.join(work, `${name}.pack`), "--application", "kodi");
  run(cairn, "pack", "install", "--unsigned", "--dir", root, path.join(work, `${name}.pack`));
  return root;
}

// A real game under Cairn, which links programs until it is ended. `held`: while this file is there, it writes none.
async function play(root, held, ...options) {
  const mesa = fs.mkdtempSync(path.join(work, "mesa-"));
  const {child} = await start(cairn, ["run", "-q", ...options, "--", game, held],
    {CAIRN_DIR: root, LIBGL_ALWAYS_SOFTWARE: "1", MESA_SHADER_CACHE_DIR: mesa});
  return child;
}

let browser;
// A tab in which nothing may go wrong.
async function tab(address, {size = SIZES.desktop, theme = "light"} = {}) {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  page.problems = [];
  page.on("console", (message) => {
    if (["error", "warn", "warning"].includes(message.type())) page.problems.push(`${message.text()} ${message.location().url ?? ""}`);
  });
  page.on("pageerror", (error) => page.problems.push(String(error.stack ?? error)));
  page.on("dialog", (dialog) => {
    page.problems.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  await page.setViewport({width: size[0], height: size[1]});
  await page.emulateMediaFeatures([{name: "prefers-color-scheme", value: theme}]);
  await page.evaluateOnNewDocument(() => {
    window.shift = 0;
    window.shiftOf = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) {
        if (entry.hadRecentInput) continue;
        window.shift += entry.value;
        window.shiftOf.push(...entry.sources.map((each) => `${entry.value.toFixed(3)} ${each.node?.outerHTML?.slice(0, 120)}`));
      }
    }).observe({type: "layout-shift", buffered: true});
  });
  await page.goto(address);
  await page.waitForSelector("main h1");
  // Where a server was ended, the browser says of an answer that was on its way that it is lost.
  page.forgetLostAnswers = () => {
    page.problems = page.problems.filter((problem) => !problem.startsWith("Failed to load resource: net::ERR_"));
  };
  page.done = async () => {
    assert.deepEqual(page.problems, []);
    await context.close();
  };
  return page;
}
// Waits until the condition holds in the page, and returns what it gives. Where it throws, it does not hold yet: while a
// page is loaded anew, some of its elements are not there; and a throw in a later frame would end puppeteer's polling in
// silence. The last one is told by tellWhatIsShown().
function until(page, condition, ...given) {
  const holds = `(${condition})(...${JSON.stringify(given)})`;
  return page.waitForFunction(`(() => { try { return ${holds}; } catch (error) { window.lastThrown = String(error); } })()`);
}
async function open(page, view) {
  await page.evaluate((hash) => { location.hash = hash; }, view);
  const title = {overview: "Overview", live: "Live", programs: "The slowest programs", generations: "Generations", packs: "Packs", caches: "Caches"}[view];
  await until(page, (wanted) => document.querySelector("main h1")?.textContent === wanted, title);
}
async function judge(page, where) {
  await page.evaluate(axe);
  const {violations} = await page.evaluate(() => axe.run(document, {resultTypes: ["violations"]}));
  assert.deepEqual(violations.map((each) => `${each.id}: ${each.nodes.slice(0, 3).map((node) => `${node.html.slice(0, 140)} ${node.failureSummary}`).join("; ")}`), [], where);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(overflow <= 0, `${where}: scrolls sideways by ${overflow}`);
}
const noShift = async (page, where) => {
  const [shift, of] = await page.evaluate(() => [window.shift, window.shiftOf]);
  assert.ok(shift < 0.02, `${where}: the layout shifts by ${shift}: ${of.join("\n")}`);
};
const click = (page, id) => page.evaluate((name) => document.getElementById(name).click(), id);
async function status(page, text) {
  await until(page, (wanted) => !document.getElementById("status").hidden && document.getElementById("status").textContent.includes(wanted), text);
}

const tests = {
  async everyViewInEveryThemeAndSize() {
    const server = await serve(makeDemo("views"));
    const running = game && await play(path.join(work, "views"), path.join(work, "views-held"));
    for (const theme of THEMES) {
      for (const [name, size] of Object.entries(SIZES)) {
        if (theme === "dark" && name !== "desktop" && !process.env.CAIRN_TEST_LONG) continue;
        for (const view of VIEWS) {
          // Each from the beginning, so that all shifts are those of this view.
          const page = await tab(server.address.replace("#", `#`), {size, theme});
          assert.ok(!page.url().includes("token"), "the token has left the address");
          await until(page, () => document.querySelector("main h1")?.textContent === "Overview");
          await open(page, view);
          if (view === "live") await until(page, () => document.querySelectorAll("#live-events > li").length > 20);
          if (view === "live" && running) await page.waitForSelector("#live-now table");
          await sleep(150);
          await page.screenshot({path: path.join(screenshots, `${view}-${theme}-${name}.png`), fullPage: name !== "large"});
          await judge(page, `${view}, ${theme}, ${name}`);
          if (view !== "live") await sleep(100);
          await noShift(page, `${view}, ${theme}, ${name}`);
          await page.done();
        }
      }
    }
    if (running) running.kill();
    server.child.kill();
  },

  async emptyRoot() {
    const server = await serve(path.join(work, "nothing"));
    for (const theme of THEMES) {
      const page = await tab(server.address, {theme});
      for (const view of VIEWS) {
        await open(page, view);
        await page.waitForSelector(".empty");
        await judge(page, `empty ${view}, ${theme}`);
      }
      await page.screenshot({path: path.join(screenshots, `empty-${theme}.png`)});
      await page.done();
    }
    const stranger = await tab(server.address.split("#")[0]);
    assert.match(await stranger.$eval("main", (main) => main.textContent), /whole address/);
    await judge(stranger, "without the token");
    await stranger.done();
    server.child.kill();
  },

  async keyboard() {
    const server = await serve(makeDemo("keyboard"));
    const page = await tab(server.address);
    await until(page, () => document.querySelector("main h1")?.textContent === "Overview");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "skip");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    assert.equal(await page.evaluate(() => location.hash), "#overview");
    await page.evaluate(() => document.querySelector(".top nav a[href='#caches']").focus());
    await page.keyboard.press("Enter");
    await until(page, () => document.querySelector("main h1")?.textContent === "Caches");
    await page.focus("#clear-kodi");
    await page.keyboard.press("Enter");
    await page.waitForSelector("dialog[open]");
    assert.equal(await page.evaluate(() => document.activeElement.id), "dialog-no", "the safe answer has the focus");
    await page.keyboard.press("Escape");
    await until(page, () => !document.querySelector("dialog[open]"));
    assert.equal(await page.evaluate(() => document.activeElement.id), "clear-kodi", "the focus comes back");
    await page.done();
    server.child.kill();
  },

  async actionsAskFirst() {
    const root = makeDemo("actions");
    const server = await serve(root);
    const page = await tab(server.address);
    await open(page, "caches");
    const entries = (application) => JSON.parse(run(cairn, "stats", "--json", "--dir", root)).caches
      .filter((each) => each.application === application).reduce((sum, each) => sum + (each.entries ?? 0), 0);
    const perform = async (button, answer, said, field) => {
      await page.waitForSelector(`#${button}`);
      await click(page, button);
      await page.waitForSelector("dialog[open]");
      if (button === "clear-blender") {
        await judge(page, "a dialog");
        await page.screenshot({path: path.join(screenshots, "dialog-light-desktop.png")});
      }
      if (field !== undefined) await page.$eval("#dialog-input", (input, text) => { input.value = text; }, field);
      await click(page, answer);
      if (answer === "dialog-yes" && said !== "") await status(page, said);
    };
    await perform("clear-blender", "dialog-no");
    await sleep(300);
    assert.equal(entries("blender"), 440, "a no changes nothing");
    await perform("clear-blender", "dialog-yes", "Clear blender: done");
    assert.equal(entries("blender"), 0);
    await perform("compress-kodi", "dialog-yes", "Compress kodi: done");
    // Opened again before the browser has told that it was closed.
    await page.evaluate(() => ["limit-kodi", "dialog-no", "limit-kodi"].forEach((id) => document.getElementById(id).click()));
    await page.waitForSelector("dialog[open]");
    await sleep(200);
    await click(page, "dialog-no");
    await page.waitForSelector("dialog:not([open])");
    await perform("limit-kodi", "dialog-yes", "", "much");
    assert.match(await page.$eval("#dialog-error", (each) => each.textContent), /Write a number/);
    await click(page, "dialog-no");
    await perform("limit-kodi", "dialog-yes", "Limit kodi to 2.0 GiB: done", "2G");
    assert.match(fs.readFileSync(path.join(home, ".config/cairn/config"), "utf8"), /\[application kodi\]\nlimit = 2147483648/);
    await perform("pin-kodi", "dialog-yes", "75 entries pinned");
    await perform("unpin-kodi", "dialog-yes", "75 entries unpinned");
    await perform("pack-kodi", "dialog-yes", "must be in your home", "/etc/kodi.pack");
    await perform("pack-kodi", "dialog-yes", "done", path.join(home, "packs/kodi.pack"));
    assert.ok(fs.statSync(path.join(home, "packs/kodi.pack")).size > 1000);
    await perform("remove-kodi", "dialog-yes", "Remove kodi: done");
    assert.equal(entries("kodi"), 0);
    await until(page, () => !document.getElementById("clear-kodi"));
    await perform("clear-all", "dialog-yes", "Clear all caches: done");
    assert.equal(entries("chromium"), 0);
    await page.done();
    server.child.kill();
  },

  async generationsAreCompared() {
    const server = await serve(makeDemo("generations"));
    const page = await tab(server.address);
    await open(page, "generations");
    await page.select("#gen-app", "blender");
    await until(page, () => document.querySelector("main").textContent.includes("22.3.6") && document.querySelector("main").textContent.includes("23.2.1"));
    assert.match(await page.$eval("main", (main) => main.textContent), /GL_VERSION/);
    await page.evaluate(() => { location.hash = "overview"; });
    await page.waitForSelector("a[href^='#run/']");
    await page.evaluate(() => document.querySelector("a[href^='#run/']").click());
    await until(page, () => document.querySelector("main h1")?.textContent.includes("process"));
    await judge(page, "a run");
    await page.screenshot({path: path.join(screenshots, "run-light-desktop.png")});
    assert.equal(await page.$("main img, main script"), null, "what is in caches is only text");
    await page.done();
    server.child.kill();
  },

  async anApplicationRunsBesideIt() {
    const root = makeDemo("live");
    const server = await serve(root);
    const page = await tab(server.address);
    await open(page, "live");
    await page.waitForSelector("#live-now .empty");
    const held = path.join(work, "live-held");
    await play(root, held);
    const cell = (label) => page.$eval(`#live-now td[data-label="${label}"]`, (each) => each.textContent);
    const shows = (id, text) => until(page, (name, wanted) => document.getElementById(name)?.textContent.includes(wanted), id, text);
    await shows("live-now", "cli_linking_game");
    const linked = Number(await cell("Programs"));
    await until(page, (old) => Number(document.querySelector('#live-now td[data-label="Programs"]')?.textContent) > old, linked);
    await until(page, () => Number(document.querySelector('#live-now td[data-label="Each second"]')?.textContent) > 0);
    await shows("live-events", "cli_linking_game");
    assert.match(await page.$eval("#live-events li", (each) => each.textContent), /never seen before/);
    const first = await page.$eval("#live-events li", (each) => each.textContent);
    await until(page, (old) => document.querySelector("#live-events li").textContent !== old, first);

    await shows("live-queue", "Nothing waits");
    const phone = await tab(server.address, {size: SIZES.phone});
    await open(phone, "live");
    const top = (text) => until(phone, (wanted) => document.getElementById("live-queue")?.textContent.startsWith(wanted)
      && document.querySelector("#live-now table")?.getBoundingClientRect().top, text).then((found) => found.jsonValue());
    const topBefore = await top("Nothing waits");
    fs.writeFileSync(held, "");
    assert.equal(await top("Waiting to be written to disk: "), topBefore, "the page does not move on a phone");
    await phone.done();
    await page.bringToFront();
    await shows("live-queue", "Waiting to be written to disk: ");
    await until(page, () => Number(document.querySelector('#live-now td[data-label="Not on disk yet"]').textContent.split(" ")[0]) > 1);
    await judge(page, "a queue");
    await page.screenshot({path: path.join(screenshots, "queue-light-desktop.png")});
    fs.rmSync(held);
    await shows("live-queue", "Nothing waits");

    // Where it is killed with a queue, that is gone, too.
    fs.writeFileSync(held, "");
    await shows("live-queue", "Waiting to be written to disk: ");
    process.kill(Number(await cell("Process")), "SIGKILL");
    await page.waitForSelector("#live-now .empty");
    assert.equal(await page.$eval("#live-queue", (each) => each.textContent.trim()), "Nothing waits to be written to disk");
    await page.done();
    server.child.kill();
  },

  async sourcesAreShownAsText() {
    const root = path.join(work, "sources");
    fs.mkdirSync(root);
    const child = await play(root, path.join(work, "sources-held"), "--keep-sources");
    const server = await serve(root);
    const page = await tab(server.address);
    await until(page, () => document.querySelector("main h1")?.textContent === "Overview");
    await sleep(1500);
    child.kill();
    await open(page, "programs");
    await page.waitForSelector("pre.sources");
    const shown = await page.$eval("details[open] > pre.sources", (each) => each.textContent);
    assert.match(shown, /^vertex:\nattribute vec4 p;\n/);
    assert.match(shown, /fragment:\nprecision mediump float; \/\* <img src=x onerror=alert\(4\)><script>alert\(5\)<\/script> \*\/\n/);
    assert.equal(await page.$("main img, main script"), null, "what is in caches is only text");
    assert.ok(await page.$eval("details[open] > pre.sources", (each) => each.getClientRects().length > 0), "the slowest need no click");
    await judge(page, "sources");
    await page.screenshot({path: path.join(screenshots, "sources-light-desktop.png")});
    await page.evaluate(() => { location.hash = "overview"; });
    await page.waitForSelector("a[href^='#run/']");
    await page.evaluate(() => document.querySelector("a[href^='#run/']").click());
    await page.waitForSelector("pre.sources");
    assert.match(await page.$eval("pre.sources", (each) => each.textContent), /^vertex:\n/);
    await judge(page, "sources of a run");
    await page.done();
    server.child.kill();
  },

  async aLargeRootIsShown() {
    const root = path.join(work, "large");
    run(makeRoot, "large", root);
    const server = await serve(root);
    const page = await tab(server.address);
    await open(page, "overview");
    const times = {}, read = {};
    const readByServer = () => Number(/^rchar: (\d+)/m.exec(fs.readFileSync(`/proc/${server.child.pid}/io`, "utf8"))[1]);
    const ask = async (what, name = what) => {
      const before = readByServer();
      times[name] = await page.evaluate(async (asked) => {
        const began = performance.now();
        const answer = await fetch(`/api/${asked}`, {headers: {"X-Cairn-Token": sessionStorage.getItem("cairn-token")}});
        await answer.text();
        return Math.round(performance.now() - began);
      }, what);
      read[name] = readByServer() - before;
    };
    await sleep(6000);  // what was counted is too old by then
    await ask("overview");
    await ask("overview", "overview again");
    await ask("runs");
    await ask("programs");
    await ask("programs", "programs again");
    await ask("generations");
    // How long it takes is told, and judged only where nobody would wait: a busy machine takes its time.
    console.log("a large root, bytes read:", JSON.stringify(read));
    assert.ok(read.overview < read.programs / 10, "the overview reads no entries");
    assert.ok(read["programs again"] < read.programs / 10, "entries are not read again");
    for (const view of VIEWS) {
      const began = Date.now();
      await open(page, view);
      times[`show ${view}`] = Date.now() - began;
      await page.screenshot({path: path.join(screenshots, `large-root-${view}.png`)});
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.ok(overflow <= 0, `${view} scrolls sideways`);
    }
    console.log("a large root, in ms:", JSON.stringify(times));
    assert.ok(Math.max(...Object.values(times)) < 10_000);
    await noShift(page, "a large root");
    await page.done();
    server.child.kill();
  },

  async theServerEndsUnderIt() {
    const root = makeDemo("ending");
    for (const signal of ["SIGKILL", "SIGTERM"]) {
      const server = await serve(root);
      const page = await tab(server.address);
      await open(page, "live");
      await page.waitForSelector("#live-events li");
      server.child.kill(signal);
      await until(page, () => !document.getElementById("banner").hidden);
      assert.match(await page.$eval("#banner", (banner) => banner.textContent), /has ended/);
      await open(page, "live");
      await open(page, "packs");
      await sleep(500);
      await judge(page, "ended");
      if (signal === "SIGKILL") await page.screenshot({path: path.join(screenshots, "ended-light-desktop.png")});
      page.forgetLostAnswers();
      await page.done();
    }
  },

  async aNewServerOfTheSamePortIsTakenInTheSameTab() {
    const root = makeDemo("again");
    const first = await serve(root);
    const page = await tab(first.address);
    await open(page, "packs");
    const ended = new Promise((resolve) => first.child.on("exit", resolve));
    first.child.kill("SIGKILL");
    await ended;
    await until(page, () => !document.getElementById("banner").hidden);
    const {child, line} = await startOnPort(first.port, root);
    await page.evaluate((address) => { location.href = address; }, /http:\S+/.exec(line)[0]);
    await until(page, () => document.getElementById("banner").hidden && document.querySelector(".treemap"));
    assert.ok(!page.url().includes("token"));
    page.forgetLostAnswers();
    await page.done();
    child.kill();
  },

  async hostilePagesGetNothing() {
    const root = makeDemo("hostile");
    const server = await serve(root);
    const mine = await tab(server.address);  // the user's tab is open meanwhile
    const evil = http.createServer((request, response) => {
      response.setHeader("Content-Type", "text/html");
      response.end("<!doctype html><title>evil</title><body></body>");
    });
    await new Promise((resolve) => evil.listen(0, "127.0.0.1", resolve));
    const before = run(cairn, "stats", "--json", "--dir", root);
    for (const hostName of ["127.0.0.1", "localhost"]) {
      // In the same profile as the user's tab.
      const page = await mine.browserContext().newPage();
      await page.goto(`http://${hostName}:${evil.address().port}/`);
      const found = await page.evaluate(attack, server.port, server.token);
      for (const [name, what] of Object.entries(found)) assert.equal(what, "refused", `${hostName}: ${name}`);
      const shown = page.frames().filter((frame) => frame !== page.mainFrame());
      for (const frame of shown) assert.equal(await frame.$("nav").catch(() => null), null, "the page is in no frame");
      const stored = await page.evaluate(() => JSON.stringify([document.cookie, {...sessionStorage}, {...localStorage}]));
      assert.ok(!stored.includes(server.token));
      await page.close();
    }
    // A name that its owner makes lead to this machine.
    const rebound = await mine.browserContext().newPage();
    const answer = await rebound.goto(`http://evil.test:${server.port}/`);
    assert.equal(answer.status(), 403);
    const told = await rebound.evaluate(async (token) => (await fetch("/api/overview", {headers: {"X-Cairn-Token": token}})).status, server.token);
    assert.equal(told, 403);
    await rebound.close();
    assert.equal(run(cairn, "stats", "--json", "--dir", root), before, "nothing was changed");
    await mine.bringToFront();
    await open(mine, "caches");
    await mine.done();
    evil.close();
    server.child.kill();
  },
  // For docs/images/dashboard.png: ONLY=theReadmesImage.
  async theReadmesImage() {
    const root = path.join(home, ".cache/cairn");
    run(makeRoot, "demo", root);
    const server = await serve(root);
    const page = await tab(server.address, {size: [1280, 800]});
    await page.waitForSelector(".treemap");
    await sleep(200);
    await page.screenshot({path: path.join(screenshots, "readme.png")});
    await page.done();
    server.child.kill();
  },
};

// After a failure: what each tab shows, and what went wrong in it. Closes them.
async function tellWhatIsShown() {
  for (const context of browser.browserContexts().slice(1)) {
    for (const page of await context.pages()) {
      const shown = page.evaluate(() => JSON.stringify({
        state: document.readyState, thrown: window.lastThrown, banner: document.getElementById("banner")?.innerText,
        main: document.getElementById("main")?.innerText.slice(0, 300),
      }));
      const late = sleep(5000).then(() => "does not answer");
      console.log(`  ${page.url()}: ${await Promise.race([shown, late]).catch(String)}`, page.problems ?? "");
    }
    await context.close();
  }
}

async function main() {
  const only = process.env.ONLY ? process.env.ONLY.split(",") : Object.keys(tests).filter((name) => name !== "theReadmesImage");
  // Each tab of a browser as root, in containers of tests.
  browser = await puppeteer.launch({executablePath: chromium, headless: true, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--host-resolver-rules=MAP evil.test 127.0.0.1", "--force-color-profile=srgb"], userDataDir: path.join(work, "profile")});
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    if (!only.includes(name)) continue;
    const began = Date.now();
    try {
      await test();
      console.log(`${name}: passed, ${((Date.now() - began) / 1000).toFixed(1)} s`);
    } catch (error) {
      failed += 1;
      console.log(`${name}: FAILED, ${((Date.now() - began) / 1000).toFixed(1)} s\n${error.stack}`);
      await tellWhatIsShown().catch((why) => console.log(`  the browser tells nothing: ${why}`));
    }
  }
  await browser.close();
  for (const child of children) {
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {}  // it has ended
  }
  fs.rmSync(work, {recursive: true, force: true, maxRetries: 5});
  process.exit(failed === 0 ? 0 : 1);
}

main();
