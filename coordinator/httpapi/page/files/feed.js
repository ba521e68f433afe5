// One stream for all tabs of a browser. The tab that holds a Web Lock reads the feeds that the tabs want, and tells them by a
// BroadcastChannel; when it leaves, another one takes over. Where a browser has no Web Locks (plain HTTP to another host), each tab
// reads for itself.
//
// Keys of feeds are `run:ID` and `q:QUERY`. A subscriber gets each frame as {kind, id, data}. Whenever the reader begins anew, a run's
// feed has a snapshot at first and a query's a frame of the kind ready: the subscriber then knows that it may have missed something.
import { signal } from "./ui.js";

const self = crypto.getRandomValues(new Uint32Array(2)).join("-");
const channel = "BroadcastChannel" in globalThis ? new BroadcastChannel("sluice-feed") : null;

// shared says whether tabs share a stream.
export const shared = Boolean(channel && navigator.locks);

// stale is since when the server has not answered; 0: it does.
export const stale = signal(0);

const wanted = new Map(); // key → set of subscribers of this tab
const wants = new Map(); // of the reader: tab → keys, as they have told
let reader = null; // of this tab, while it reads for all

// follow calls take with each frame of a feed until the function that it returns is called.
export function follow(key, take) {
  let all = wanted.get(key);
  if (!all) wanted.set(key, all = new Set());
  all.add(take);
  tell(key);
  return () => {
    all.delete(take);
    if (all.size === 0 && wanted.get(key) === all) {
      wanted.delete(key);
      tell();
    }
  };
}

// tell says what this tab wants; fresh is a key of which it needs the beginning.
function tell(fresh) {
  say({ kind: "want", tab: self, keys: [...wanted.keys()], fresh });
}

function say(message) {
  channel?.postMessage(message);
  hear(message);
}

function hear(m) {
  switch (m.kind) {
    case "want":
      if (m.keys.length) wants.set(m.tab, m.keys);
      else wants.delete(m.tab);
      reader?.adjust(m.fresh);
      break;
    case "gone":
      wants.delete(m.tab);
      reader?.adjust();
      break;
    case "who":
      tell();
      break;
    case "frame":
      for (const take of wanted.get(m.key) || []) take(m.frame);
      break;
    case "state":
      stale.value = m.stale;
      break;
    case "again":
      reader?.close();
      reader?.adjust();
      break;
  }
}

// Reader reads the feeds that are wanted.
class Reader {
  sources = new Map();
  timer = 0;
  since = 0;

  // adjust opens what is wanted and closes what is not.
  adjust(fresh) {
    const keys = new Set([...wants.values()].flat());
    for (const [key, source] of this.sources) {
      if (keys.has(key) && key !== fresh) continue;
      source.close();
      this.sources.delete(key);
    }
    for (const key of keys) if (!this.sources.has(key)) this.open(key);
  }

  open(key) {
    const name = key.slice(key.indexOf(":") + 1);
    const url = key.startsWith("run:") ? "/v1/runs/" + encodeURIComponent(name) + "/feed" : "/v1/feed" + (name ? "?q=" + encodeURIComponent(name) : "");
    const source = new EventSource(url);
    this.sources.set(key, source);
    source.onopen = () => this.state(0);
    for (const kind of ["snapshot", "update", "reset", "ready", "end", "error"]) {
      source.addEventListener(kind, (e) => {
        if (kind === "error" && !e.data) return this.lost(key, source);
        say({ kind: "frame", key, frame: { kind, id: e.lastEventId, data: JSON.parse(e.data) } });
        if (kind === "end" || kind === "error") source.close();
      });
    }
  }

  // lost notes that a stream has broken. The browser opens it again, unless the server has refused it.
  lost(key, source) {
    this.state(this.since || Date.now());
    if (source.readyState !== EventSource.CLOSED || this.sources.get(key) !== source) return;
    this.sources.delete(key);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.adjust(), 2000);
  }

  state(since) {
    if (this.since === since) return;
    this.since = since;
    say({ kind: "state", stale: since });
  }

  close() {
    clearTimeout(this.timer);
    for (const source of this.sources.values()) source.close();
    this.sources.clear();
  }
}

// again tries to reach the server at once.
export const again = () => say({ kind: "again" });

function read() {
  reader = new Reader();
  wants.clear();
  say({ kind: "who" });
  reader.adjust();
}

let leave = () => {};

// lead waits until this tab may read for all, and reads until it leaves.
function lead() {
  const stop = new AbortController();
  let end;
  const over = new Promise((done) => { end = done; });
  leave = () => {
    stop.abort();
    reader?.close();
    reader = null;
    end();
  };
  navigator.locks.request("sluice-feed", { signal: stop.signal }, () => {
    read();
    return over;
  }).catch(() => {}); // it has left before its turn
}

if (shared) {
  channel.onmessage = (e) => hear(e.data);
  lead();
  // A page that the browser keeps for the way back would hold lock and stream, and the others would fall silent.
  addEventListener("pagehide", () => {
    channel.postMessage({ kind: "gone", tab: self });
    leave();
  });
  addEventListener("pageshow", (e) => {
    if (!e.persisted) return;
    lead();
    for (const key of wanted.keys()) tell(key);
  });
} else {
  channel?.close();
  reader = new Reader();
}
