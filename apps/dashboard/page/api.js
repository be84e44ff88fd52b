// Asks the server. The token is in the address with which the page was opened, behind the #, which no browser sends
// anywhere. It is kept for this tab only, and leaves the address at once.

const KEY = "cairn-token";

function takeToken() {
  const given = /^#token=([0-9a-f]{32})$/.exec(location.hash);
  if (!given) return false;
  sessionStorage.setItem(KEY, given[1]);
  history.replaceState(null, "", `${location.pathname}#overview`);
  return true;
}
takeToken();
const token = sessionStorage.getItem(KEY);
// Somebody opens the address of another server of the same port in this tab.
addEventListener("hashchange", () => {
  if (takeToken()) location.reload();
});

export const hasToken = token !== null;

// Once the server has ended, nothing is asked any more, as nobody would answer.
let ended = false;
const endedCallbacks = [];
export const onEnded = (callback) => endedCallbacks.push(callback);
export const hasEnded = () => ended;
function end(why) {
  if (ended) return;
  ended = true;
  for (const callback of endedCallbacks) callback(why);
}

export class Refused extends Error {}

async function request(path, options = {}) {
  if (ended) throw new Refused("The server of this page has ended.");
  let response;
  try {
    response = await fetch(`/api/${path}`, {...options, cache: "no-store", headers: {"X-Cairn-Token": token, ...options.headers}});
  } catch {
    end("gone");
    throw new Refused("The server of this page has ended.");
  }
  if (response.status === 401) end("token");
  return response;
}

async function json(response) {
  let answer;
  try {
    answer = await response.json();
  } catch {
    end("gone");
    throw new Refused("The server of this page has ended.");
  }
  if (answer?.error) throw new Refused(answer.error);
  return answer;
}

export async function get(path, parameters = {}) {
  const query = new URLSearchParams(parameters).toString();
  return json(await request(query ? `${path}?${query}` : path));
}

export async function act(action) {
  return json(await request("action", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(action)}));
}

// Calls `take` with each state of the server as it sends them, about one a second, until it ends.
export async function follow(take) {
  let after = 0;
  while (!ended) {
    let isGoodbye = false;
    try {
      const response = await request(`live?after=${after}`);
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let text = ""; ;) {
        const {value, done} = await reader.read();
        if (done) break;
        text += value;
        const lines = text.split("\n");
        text = lines.pop();
        for (const line of lines) {
          const state = JSON.parse(line);
          isGoodbye = state.goodbye === true;
          if (isGoodbye) continue;
          after = state.last;
          take(state);
        }
      }
    } catch {
      // The connection has broken: as good as an end.
    }
    if (!isGoodbye) end("gone");
    else await new Promise((resolve) => setTimeout(resolve, 5000));
  }
}
