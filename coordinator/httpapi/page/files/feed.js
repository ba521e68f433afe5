// One stream for all tabs of a browser. The tab that holds a Web Lock reads the feeds of all tabs, and sends the frames over a
// BroadcastChannel; when it leaves, another one takes over. Where a browser has no Web Locks (plain HTTP to another host), each tab reads
// for itself.
//
// Keys of feeds are `all`, the changes of all runs, and `run:ID`. A subscriber gets each frame as {kind, data}. When the reader begins
// anew, a run's feed begins with a snapshot, and the feed of all runs with a frame of the kind ready: earlier changes may be missing. A
// tab that begins to listen also gets that frame, since its earlier requests may be older; and so do all tabs when a broken stream goes
// on, since their requests may have failed.
import { signal } from "./ui.js";
import { known, leave as signedOut, me } from "./api.js";
import { present } from "./time.js";

const self = crypto.getRandomValues(new Uint32Array(2)).join("-");

// shared reports whether tabs share a stream.
export const shared = Boolean("BroadcastChannel" in globalThis && navigator.locks);

const channel = shared ? new BroadcastChannel("sluice-feed") : null;

// stale is the time since which the server has not answered; 0: it answers.
export const stale = signal(0);

const wanted = new Map(); // key → set of subscribers of this tab
const wants = new Map(); // of the reader: tab → keys
let reader = null; // of this tab, while it reads for all

// follow calls take with each frame of a feed until the function that it returns is called.
export function follow(key, take) {
  let all = wanted.get(key);
  if (!all) wanted.set(key, all = new Set());
  all.add(take);
  tell(all.size === 1 || key !== "all" ? key : "");
  return () => {
    all.delete(take);
    if (all.size === 0 && wanted.get(key) === all) {
      wanted.delete(key);
      tell();
    }
  };
}

// ready is a frame that the server does not send: earlier answers may lack changes.
const ready = { kind: "frame", key: "all", frame: { kind: "ready", data: {} } };

// tell sends the keys that this tab wants; fresh is a key whose feed it needs from the beginning.
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
      if (m.fresh === "all" && m.tab !== self && reader?.source) say({ ...ready, to: m.tab });
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
      if (!m.to || m.to === self) for (const take of wanted.get(m.key) || []) take(m.frame);
      break;
    case "state":
      stale.value = m.stale;
      break;
    case "out": // the session of all tabs has ended
      signedOut();
      break;
    case "in":
      if (me.value?.role === "") known().then((who) => { if (who && who.role !== "worker") me.value = who; }, () => {});
      break;
    case "again":
      reader?.close();
      reader?.adjust();
      break;
  }
}

// Reader reads the wanted feeds as one stream: the changes of all runs, and each run that a tab shows.
const runsMax = 64; // runs that the server follows each by itself in one stream

class Reader {
  source = null;
  keys = "";
  timer = 0;
  since = 0; // see stale
  last = ""; // id of the newest frame
  begun = 0; // when the stream was opened

  // adjust opens the stream anew if other keys are wanted, or a tab needs the beginning of a run. Without a session it would be refused.
  adjust(fresh) {
    const keys = [...new Set([...wants.values()].flat())].sort().join("\n");
    if (!keys || me.peek()?.role === "" || (this.source && keys === this.keys && !fresh?.startsWith("run:"))) return;
    this.keys = keys;
    if (this.source?.readyState === EventSource.CLOSED) this.source = null; // it does not reconnect: the new one has another place
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(), this.source ? 30 : 0);
  }

  // open opens the stream, behind the frame with an id if there is one.
  open(after = "") {
    this.source?.close();
    this.last = after;
    this.begun = performance.now();
    const runs = this.keys.split("\n").filter((key) => key.startsWith("run:")).slice(0, runsMax);
    const source = this.source = new EventSource("/v1/feed?open=*&q=" + runs.map((key) => "&run=" + encodeURIComponent(key.slice(4))).join("") + (after && "&after=" + encodeURIComponent(after)));
    source.onopen = () => {
      this.state(0);
      if (after) say(ready);
    };
    for (const kind of ["snapshot", "update", "reset", "ready", "end", "error"]) {
      source.addEventListener(kind, (e) => {
        if (kind === "error" && !e.data) return this.lost(source);
        const data = JSON.parse(e.data);
        this.last = e.lastEventId;
        say({ kind: "frame", key: data.run ? "run:" + data.run : "all", frame: { kind, data } });
      });
    }
  }

  // lost opens a broken stream anew. If the server has refused it, its place may no longer be known.
  lost(source) {
    if (this.source !== source) return;
    const refused = source.readyState === EventSource.CLOSED;
    source.close();
    this.state(this.since || present());
    this.ask(source, refused ? "" : this.last, refused ? 2000 : 1000);
  }

  // ask checks first that the browser still has a session, because the stream would be refused without one, and repeats that every second
  // until the server answers. The stream is opened no sooner than pause ms after the one before.
  async ask(source, after, pause) {
    const who = await known().catch(() => undefined);
    if (this.source !== source) return;
    clearTimeout(this.timer);
    if (who) this.timer = setTimeout(() => this.open(after), this.begun + pause - performance.now());
    else if (who === undefined) this.timer = setTimeout(() => this.ask(source, after, pause), 1000);
    else {
      this.close();
      say({ kind: "out" });
      this.state(0);
    }
  }

  state(since) {
    if (this.since === since) return;
    this.since = since;
    say({ kind: "state", stale: since });
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }
}

// signedIn informs the other tabs, which have lost the session, too.
export const signedIn = () => say({ kind: "in" });

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
  reader = new Reader();
}
