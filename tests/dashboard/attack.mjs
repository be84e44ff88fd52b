// SPDX-License-Identifier: MIT
// What a page of another origin tries against the dashboard's server. It runs in that page.

// Returns by name what each attempt has got: "refused", or what it should not have.
export async function attack(port, token) {
  const target = `http://127.0.0.1:${port}`;
  const got = {};
  const attempt = async (name, what) => {
    try {
      got[name] = await what();
    } catch {
      got[name] = "refused";
    }
  };
  const clear = JSON.stringify({action: "clear", all: true});
  const inTime = (promise) => Promise.race([promise, new Promise((resolve) => setTimeout(resolve, 1500, "refused"))]);
  await attempt("read", async () => (await fetch(`${target}/api/overview`)).text());
  // Even a token that it had somehow learnt would be of no use to it.
  await attempt("readWithToken", async () => (await fetch(`${target}/api/overview`, {headers: {"X-Cairn-Token": token}})).text());
  await attempt("readPage", async () => (await fetch(`${target}/`)).text());
  await attempt("opaque", async () => (await (await fetch(`${target}/api/overview`, {mode: "no-cors"})).text()) || "refused");
  await attempt("post", async () => (await (await fetch(`${target}/api/action`, {method: "POST", mode: "no-cors", body: clear})).text()) || "refused");
  await attempt("postJson", async () => (await fetch(`${target}/api/action`, {method: "POST", headers: {"Content-Type": "application/json", "X-Cairn-Token": token}, body: clear})).text());
  await attempt("beacon", async () => { navigator.sendBeacon(`${target}/api/action`, clear); return "refused"; });
  await attempt("image", () => inTime(new Promise((resolve, reject) => {
    const image = new Image();
    image.onload = () => resolve("loaded");
    image.onerror = reject;
    image.src = `${target}/icon.svg`;
  })));
  await attempt("script", () => inTime(new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.type = "module";
    script.onload = () => resolve("loaded");
    script.onerror = reject;
    script.src = `${target}/api.js`;
    document.body.append(script);
  })));
  await attempt("socket", () => inTime(new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/api/live`);
    socket.onopen = () => resolve("opened");
    socket.onerror = reject;
  })));
  await attempt("events", () => inTime(new Promise((resolve, reject) => {
    const source = new EventSource(`${target}/api/live`);
    source.onopen = () => resolve("opened");
    source.onerror = reject;
  })));
  await attempt("frame", () => inTime(new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.onload = () => {
      try {
        resolve(frame.contentDocument ? "refused" : frame.contentWindow.length >= 0 ? "refused" : "loaded");
      } catch {
        resolve("refused");
      }
    };
    frame.src = `${target}/`;
    document.body.append(frame);
  })));
  await attempt("form", async () => {
    const sink = document.createElement("iframe");
    sink.name = "sink";
    const form = document.createElement("form");
    form.method = "post";
    form.enctype = "text/plain";
    form.target = "sink";
    form.action = `${target}/api/action`;
    const field = document.createElement("input");
    field.name = clear.slice(0, -1) + ', "a": "';
    field.value = '"}';
    form.append(field);
    document.body.append(sink, form);
    form.submit();
    await new Promise((resolve) => setTimeout(resolve, 400));
    return "refused";
  });
  await attempt("window", async () => {
    const opened = window.open(`${target}/`);
    await new Promise((resolve) => setTimeout(resolve, 600));
    try {
      return opened?.document?.title === "Cairn" ? "read" : "refused";
    } catch {
      return "refused";
    }
  });
  return got;
}
