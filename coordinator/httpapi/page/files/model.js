// The page's model of a run. The statuses of steps are a byte array that the feed writes; the other properties of steps are read from the
// server, at most once in a while. Signals hold the counts and the selection, and `version` changes with any status.
import { batch, signal } from "./ui.js";
import { get, inOrder, of, Problem, query, word } from "./api.js";
import { follow } from "./feed.js";
import { statuses } from "./mark.js";

const code = Object.fromEntries(statuses.map((name, i) => [name, i]));
const still = new Set(["message", "child", "room", "slot", "worker"]); // kinds of waits that do not move by themselves
const idMax = 1000; // characters of an id that a query can surely have
const namedMax = 3; // waits whose causes the page asks for
const refreshMin = 400, refreshMax = 3_000; // ms between two readings of the steps: the more, the longer one takes

let first = true; // no run was shown in this document: its id may have been written by hand

export class RunModel {
  run = signal(null); // as the server shows it
  problem = signal(null); // why it cannot be shown
  status = signal(""); // of the run
  seq = signal(0); // of the newest event that is known
  version = signal(0); // grows with each change of a status
  details = signal(0); // grows with each reading of the steps
  counts = signal(new Uint32Array(statuses.length)); // of steps by status
  ended = signal(false);

  keys = []; // of steps, in the order of the workflow; those of items as they come
  index = new Map(); // key → place in keys
  state = new Uint8Array(64); // status by place
  steps = new Map(); // key → as the server shows it
  moved = new Map(); // place → when it last changed
  items = new Map(); // key of a map → how many items there are, and how they are
  awaited = new Map(); // key → the status that the newest reading adds to that of the feed: person, or waiting, for a wait that does not move by itself
  parent = []; // by place: the key of the map whose item it is part of

  #timer = 0;
  #cost = 0;
  #lost = false; // the newest reading has failed
  #newest = inOrder();
  #stop = new AbortController();
  #unfollow;
  #unfollowAll;

  constructor(id) {
    this.id = id;
    this.#unfollow = follow("run:" + id, (frame) => this.#take(frame));
    this.#unfollowAll = follow("all", ({ kind, data }) => { // the feed of a run that has ended does not report that the run is reopened
      if (kind === "ready" ? this.ended.value || this.#lost : this.ended.value && data.runs?.some((c) => c.run === id && c.seq > this.seq.value)) this.#later(0);
    });
    this.#refresh();
  }

  close() {
    clearTimeout(this.#timer);
    this.#stop.abort();
    this.#unfollow();
    this.#unfollowAll();
  }

  // again reads the run anew and follows it, such as after an act that may have reopened it.
  again() {
    this.#reopen();
    this.#later(0);
  }

  #reopen() {
    if (!this.ended.value) return;
    this.#unfollow();
    this.ended.value = false;
    this.#unfollow = follow("run:" + this.id, (frame) => this.#take(frame));
  }

  // statusOf returns the status of a step by its key.
  statusOf(key) { return statuses[this.state[this.index.get(key)] ?? 0]; }

  #place(key) {
    let at = this.index.get(key);
    if (at === undefined) {
      at = this.keys.push(key) - 1;
      this.index.set(key, at);
      if (at >= this.state.length) {
        const more = new Uint8Array(this.state.length * 2);
        more.set(this.state);
        this.state = more;
      }
    }
    return at;
  }

  #take({ kind, data }) {
    batch(() => {
      if (kind === "end" || kind === "error") this.ended.value = true; // no frame follows
      if (kind === "snapshot" || kind === "update") {
        const live = kind === "update" && this.seq.value > 0;
        this.seq.value = Math.max(this.seq.value, data.seq);
        this.status.value = data.status;
        for (const s of data.steps || []) {
          const net = /^(.+)@\d+/.exec(s.step); // a run of a playbook's step: their numbers are read with the steps
          if (net && !this.steps.has(s.step) && (!this.steps.size || this.steps.has(net[1]))) continue;
          const at = this.#place(s.step), to = this.#shown(s.step, s.status);
          if (this.state[at] === to && !live) continue;
          this.state[at] = to;
          if (live) this.moved.set(at, performance.now());
        }
        this.#count();
      }
    });
    if (kind !== "ready") this.#later();
  }

  // shown is the status of a step as a number. Feeds report neither that a completed step asks a person nor the wait of a running one.
  #shown(key, status) {
    const more = this.awaited.get(key);
    return code[more && (more === "person" ? status === "completed" : status === "running" || status === "ready") ? more : status] ?? 0;
  }

  #count() {
    const counts = new Uint32Array(statuses.length);
    for (const n of this.items.values()) n.of = n.ok = n.failed = n.moving = 0;
    for (let i = 0; i < this.keys.length; i++) {
      const s = this.state[i], n = this.parent[i] && this.items.get(this.parent[i]);
      counts[s]++;
      if (!n) continue;
      n.of++;
      if (s === code.completed || s === code.skipped) n.ok++;
      else if (s === code.failed) n.failed++;
      else if (s === code.running || s === code.ready) n.moving++;
    }
    this.counts.value = counts;
    this.version.value++;
  }

  #later(delay = Math.min(refreshMax, Math.max(refreshMin, 10 * this.#cost))) {
    if (this.#timer && delay > 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#refresh(), delay);
  }

  // name adds the cause of a wait: the operation that no worker serves, or the wait of the child run.
  async #name(a) {
    try {
      if (a.kind === "child") {
        const child = await get(of(a.name), this.#stop.signal), next = child.awaits?.find((b) => b.kind !== "timer");
        if (next) a.what += `, which waits for ${next.what}`;
        return;
      }
      const x = await get(of(this.id, "explain") + query({ step: a.step }), this.#stop.signal);
      const why = x.reasons?.find((r) => r.kind === "worker");
      if (why) a.worker = why.text.replace(/^it may start, and waits for a worker: none serves/, "no worker serves").replace(/^.*: those/, "those");
    } catch {} // then the wait is shown as the run has it
  }

  // read first looks for the run in a list, unless it is known to exist: an empty list is no refusal.
  async #read() {
    if (first && this.id.length <= idMax) {
      const list = await get("/v1/runs" + query({ q: "run:" + word(this.id), limit: 1 }), this.#stop.signal);
      if (!list.items.length) throw new Problem(404, { detail: `There is no run ${this.id}.` });
    }
    first = false;
    const [run, list] = await Promise.all([get(of(this.id), this.#stop.signal), get(of(this.id, "steps"), this.#stop.signal)]);
    await Promise.all((run.awaits || []).filter((a) => a.kind === "worker" || a.kind === "child").slice(0, namedMax).map((a) => this.#name(a)));
    return [run, list];
  }

  async #refresh() {
    this.#timer = 0; // later changes are read once more
    const begin = performance.now();
    try {
      const [run, list] = await this.#newest(this.#read());
      this.#lost = false;
      this.#cost = performance.now() - begin;
      batch(() => {
        this.problem.value = null;
        this.run.value = run;
        if (!run.finished && run.events > this.seq.value) this.#reopen();
        if (run.events >= this.seq.value) {
          this.status.value = run.status;
          this.seq.value = run.events;
        }
        this.awaited = new Map((run.awaits || []).filter((a) => still.has(a.kind)).map((a) => [a.step, "waiting"]));
        for (const s of list.items) if (s.decidable) this.awaited.set(s.step, "person");
        const around = []; // the maps around a step, outermost first
        for (const s of list.items) {
          const at = this.#place(s.step), depth = s.depth || 0;
          this.steps.set(s.step, s);
          this.parent[at] = depth ? around[depth - 1] : "";
          if (s.kind === "map") {
            around[depth] = s.step;
            if (!this.items.has(s.step)) this.items.set(s.step, {});
          }
          if (run.events >= this.seq.value) this.state[at] = this.#shown(s.step, s.status);
          else if (s.decidable) this.state[at] = code.person;
        }
        this.#count();
        this.details.value++;
      });
    } catch (e) {
      if (this.#stop.signal.aborted) return;
      this.#lost = true;
      if (!this.run.value || e.status === 404 || e.status === 410) this.problem.value = e;
    }
  }
}
