// The list of runs: the query, the counts, and the state of each run.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../ui.js";
import { at, go, here, withQuery } from "../route.js";
import { get, inOrder, may, query } from "../api.js";
import { follow } from "../feed.js";
import { Channel, Status } from "../mark.js";
import { age, left, many, ms, now, number, present, took } from "../time.js";
import { BulkActs, ChosenActs } from "./bulk.js";
import { Empty, Fault, Link, Loading, Name, Sentence, useTitle } from "../parts.js";

const page = 50, pageMax = 1000; // rows per request, and at most

// terms splits a query as the server does: at spaces that are not within quotes.
export const terms = (q) => q.match(/(?:"(?:\\.|[^"\\])*"|[^\s"])+/g) || [];

export function Runs() {
  const q = here.value.query.get("q") || "";
  useTitle("Runs");
  const list = useRuns(q);
  const first = list.rows && list.rows.length === 0 && !q;
  return html`<main class="view" id="main" tabindex="-1">${first ? html`<${First} />` : html`<div class="page">
    <div class="head"><h1>Runs</h1>${may("operator") && html`<div class="end"><a class="btn pri" href="/workflows">Start a run</a></div>`}</div>
    <${Query} q=${q} problem=${list.problem} />
    <${Counts} q=${q} turn=${list.turn} ready=${list.rows || (list.problem && list.problem.status !== 400)} />
    <${List} key=${q} list=${list} q=${q} /></div>`}</main>`;
}

// later returns a row after the change in a frame, unless the row is newer.
function later(r, { head, deleted }) {
  if (deleted) return { ...r, status: "deleted", faint: true };
  return head && (ms(head.updated) - ms(r.updated) || head.events - r.events) > 0 ? { ...head, faint: r.faint } : r;
}

// useRuns reads the list of a query, and follows the changes of its rows. New runs are shown on demand.
function useRuns(q) {
  const [state, set] = useState({ q: null, rows: null, next: "", problem: null });
  const [newer, setNewer] = useState(0);
  const [turn, setTurn] = useState(0);
  const fresh = useRef(new Set());
  const rows = useRef(null); // null: they are not known
  const stop = useRef(null); // of the requests for this query
  const coming = useRef(new Set()); // of each list that is on its way: the changes of frames meanwhile, which it may lack
  const read = async (more) => {
    const told = new Map();
    coming.current.add(told);
    try {
      const found = await get("/v1/runs" + query({ q, ...more }), stop.current.signal);
      return { told, next: found.next || "", items: found.items.map((r) => later(r, told.get(r.run) || {})) };
    } finally {
      coming.current.delete(told);
    }
  };
  const count = () => {
    setNewer(fresh.current.size);
    if (fresh.current.size && !rows.current.size) load(); // nothing is shown that could move
  };
  const note = (changes) => {
    const newest = [...rows.current.values()][0];
    for (const { head } of changes) if (head && !rows.current.has(head.run) && (!newest || ms(head.started) > ms(newest.started))) fresh.current.add(head.run);
    count();
  };
  const load = async (cursor) => {
    const { signal } = stop.current;
    try {
      const { told, next, items } = await read({ cursor, limit: page });
      set((s) => {
        const all = cursor ? [...s.rows, ...items.filter((r) => !rows.current.has(r.run))] : items;
        rows.current = new Map(all.map((r) => [r.run, r]));
        return { q, rows: all, next, problem: null };
      });
      if (!cursor) fresh.current = new Set();
      note(q ? [] : told.values());
    } catch (problem) {
      if (!signal.aborted) set((s) => ({ ...s, q, problem }));
      if (problem.status === 400) stop.current.abort(); // it would be refused again
    }
  };
  // look reads the shown runs anew, to find those that are new, those that are gone, and the changes of the others.
  const look = async () => {
    if (!rows.current) return load();
    const found = await read({ limit: Math.min(pageMax, Math.max(page, rows.current.size)) }).catch(() => null);
    if (!found) return;
    const now = new Map(found.items.map((r) => [r.run, r])), last = found.items.at(-1);
    const oldest = Math.min(...[...rows.current.values()].map((r) => ms(r.started)));
    for (const [run, r] of now) if (!rows.current.has(run) && (!rows.current.size || ms(r.started) >= oldest)) fresh.current.add(run);
    set((s) => ({ ...s, rows: s.rows?.map((r) => (now.has(r.run) ? { ...later(now.get(r.run), { head: r }), moved: r.moved, faint: false } : !found.next || ms(r.started) > ms(last?.started) ? { ...r, faint: true } : r)) }));
    count();
  };
  useLayoutEffect(() => { // the first rows wait for no frame
    let timer = 0;
    const { signal } = stop.current = new AbortController();
    rows.current = null;
    let loaded = load();
    const unfollow = follow("all", ({ kind, data }) => {
      if (kind === "reset") loaded = load();
      if (kind === "ready") { // earlier changes are in no frame; the first rows are painted before these are read
        setTurn((n) => n + 1);
        loaded.then(() => setTimeout(() => { if (!signal.aborted) look(); }, 200));
      }
      if (kind !== "update") return;
      for (const told of coming.current) for (const c of data.runs) told.set(c.run, c);
      setTurn((n) => n + 1);
      if (q && !timer) timer = setTimeout(() => { timer = 0; look(); }, 700);
      if (!rows.current) return;
      if (!q) note(data.runs);
      const changed = new Map(data.runs.filter((c) => rows.current.has(c.run)).map((c) => [c.run, c]));
      if (changed.size) set((s) => ({ ...s, rows: s.rows?.map((r) => {
        const c = changed.get(r.run), row = c ? later(r, c) : r;
        if (row === r) return r;
        rows.current.set(r.run, row);
        return { ...row, moved: present() };
      }) }));
    });
    return () => { stop.current.abort(); clearTimeout(timer); unfollow(); };
  }, [q]);
  return { ...state, rows: state.q === q ? state.rows : null, newer, turn, again: () => load(), more: () => load(state.next) };
}

// Query shows the terms of the query. The person can write, change and remove them.
function Query({ q, problem }) {
  const [text, setText] = useState("");
  const list = terms(q);
  const show = (all) => go(withQuery({ q: all.join(" ") }));
  const add = (e) => {
    e.preventDefault();
    const said = terms(e.target.querySelector("input").value);
    if (said.length) show([...list, ...said]);
    setText("");
  };
  const back = (e) => {
    if (e.key === "Backspace" && !text && list.length) {
      e.preventDefault();
      setText(list.at(-1));
      show(list.slice(0, -1));
    }
    if (e.key === "Escape") e.target.blur();
  };
  return html`<form class="field query" role="search" onSubmit=${add}><svg viewBox="0 0 14 14" aria-hidden="true"><circle cx="6" cy="6" r="4.25" /><path d="M9.2 9.2 13 13" /></svg>
    <div class="terms">${list.map((t, i) => html`<span class="term" key=${t + i}><bdi>${t.slice(0, 120)}</bdi><button type="button" aria-label=${"Without " + t.slice(0, 120)} onClick=${() => show(list.filter((_, j) => j !== i))}>×</button></span>`)}
    <input data-search aria-label="Find runs" autocomplete="off" spellcheck="false" placeholder=${list.length ? "" : "status: workflow: label.team: waits: age>1h code: …"} value=${text} onInput=${(e) => setText(e.target.value)} onKeyDown=${back} /></div><kbd>/</kbd></form>
    ${problem && problem.status === 400 && html`<div class="under"><${Fault} problem=${problem} /></div>`}`;
}

const kinds = ["failed", "waiting", "running", "paused", "completed", "aborted"];
const waits = { person: "for a person", timer: "timer", message: "message", gate: "gate", slot: "slot", worker: "no worker" };

// Counts shows the number of runs of each status, as filters. They are requested after the first rows, for which people wait.
function Counts({ q, turn, ready }) {
  const [counts, set] = useState(null);
  const timer = useRef(0);
  const rest = terms(q).filter((t) => !/^(status|waits):/.test(t)).join(" ");
  const wanted = useRef(rest); // when an answer comes or a timer goes off, another query may be shown
  wanted.current = rest;
  const newest = useRef(inOrder());
  const load = () => { const q = wanted.current; newest.current(get("/v1/counts" + query({ q }))).then((c) => { if (q === wanted.current) set(c); }, () => {}); };
  useEffect(() => { if (ready) load(); }, [rest, !ready]);
  useEffect(() => {
    if (!turn || !ready || timer.current) return;
    timer.current = setTimeout(() => { timer.current = 0; load(); }, 1000);
  }, [turn]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const chosen = terms(q);
  const to = (term) => withQuery({ q: chosen.includes(term) ? rest : (rest + " " + term).trim() });
  const of = (c) => (c ? number(c.count) + (c.more ? "+" : "") : "–");
  const level = (n) => Math.min(40, n ? 6 + 8.5 * Math.log10(n) : 0);
  return html`<nav class="counts sheet" aria-label="Runs by status" data-stay>${kinds.map((s) => {
    const n = counts?.status[s]?.count || 0, term = "status:" + s;
    const body = html`<svg class="lvl" viewBox="0 0 4 40" preserveAspectRatio="none" aria-hidden="true"><rect class="bed" width="4" height="40" rx="1" /><rect class=${"w s-" + s} y=${40 - level(n)} width="4" height=${level(n)} rx="1" /></svg>
      <b>${of(counts?.status[s])}</b><${Status} status=${s} />`;
    if (s !== "waiting") return html`<a class=${"count" + (n ? "" : " none")} href=${to(term)} aria-current=${chosen.includes(term) ? "true" : undefined}>${body}</a>`;
    const subs = Object.keys(waits).filter((w) => counts?.waits[w]?.count);
    return html`<div class="count two" aria-current=${chosen.some((t) => t === term || t.startsWith("waits:")) ? "true" : undefined}><a href=${to(term)}>${body}</a>
      ${subs.length > 0 && html`<div class="subs">${subs.map((w) => html`<a class=${w === "person" ? "s-person" : ""} href=${to("waits:" + w)}><i>${of(counts.waits[w])}</i> ${waits[w]}</a>`)}</div>`}</div>`;
  })}</nav>`;
}

function List({ list, q }) {
  const { rows, newer, problem, next } = list;
  const [ids, setIds] = useState(new Set());
  const pick = may("operator") && ((run, on) => { const more = new Set(ids); if (on) more.add(run); else more.delete(run); setIds(more); });
  const chosen = rows?.filter((r) => ids.has(r.run)) || [];
  if (problem && problem.status !== 400) return html`<${Fault} problem=${problem} again=${list.again} title="The runs could not be read." />`;
  if (!rows) return problem ? null : html`<div class="sheet"><${Loading} rows=${12} /></div>`;
  if (!rows.length) return html`<div class="sheet"><${Empty} title="No run is like that">Nothing matches <code>${q}</code>. <a href="/runs">Show all runs</a><//></div>`;
  return html`<div class="sheet">${newer > 0 && html`<button type="button" class="newer" onClick=${list.again}>${many(newer, "newer run")}</button>`}
    <table class="list runs"><colgroup>${pick && html`<col class="w-pick" />`}<col class="w-st" /><col class="w-id" /><col class="w-wf" /><col /><col class="w-prog" /><col class="w-age" /><col class="w-lab" /></colgroup>
    <thead><tr>${pick && html`<td class="c-pick"><input type="checkbox" aria-label="Choose all that are shown" checked=${chosen.length === rows.length} onChange=${(e) => setIds(new Set(e.target.checked ? rows.map((r) => r.run) : []))} /></td>`}<th scope="col">Status</th><th scope="col">Run</th><th scope="col">Workflow</th><th scope="col">Where it stands</th><th scope="col">Steps</th><th scope="col" class="num">Age</th><th scope="col">Labels</th></tr></thead>
    <tbody>${rows.map((r) => html`<${Row} key=${r.run} run=${r} pick=${pick} on=${ids.has(r.run)} />`)}</tbody></table>
    <div class="foot"><span>${next ? "the newest " + number(rows.length) : many(rows.length, "run") + ", newest first"}</span>${next && html`<button class="link" type="button" onClick=${list.more}>Show ${page} more</button>`}<span class="end">${chosen.length === 0 && html`<${BulkActs} q=${q} />`}</span></div></div>${chosen.length > 0 && html`<${ChosenActs} runs=${chosen} clear=${() => setIds(new Set())} />`}`;
}

// statusOf returns the displayed status of a row: it distinguishes runs that wait for a person from those that wait for a timer.
export function statusOf(r) {
  if (r.parked) return "parked";
  if (r.status === "waiting" && r.waits?.some((w) => w.kind === "person")) return "person";
  return r.status;
}

function Row({ run: r, pick, on }) {
  const labels = Object.entries(r.labels || {});
  const status = statusOf(r);
  const moved = r.moved && now.value - r.moved < 2000;
  return html`<tr class=${(moved ? "moved" : "") + (r.faint ? " faint" : "") + (on ? " chosen" : "")}>${pick && html`<td class="c-pick"><input type="checkbox" aria-label=${"Choose " + r.run.slice(0, 200)} checked=${on} onChange=${(e) => pick(r.run, e.target.checked)} /></td>`}<td class="c-st"><${Status} status=${status} /></td>
    <td class="c-id"><${Link} class="id" data-row href=${at("runs", r.run)}><${Name} text=${r.run} max=${26} /><//></td>
    <td class="c-wf q cut"><bdi title=${r.workflow.slice(0, 1000)}>${r.workflow.slice(0, 200)}</bdi></td>
    <td class="c-why why"><${Where} run=${r} /></td>
    <td class="c-prog"><${Progress} run=${r} /></td>
    <td class="num c-age q">${age(ms(r.started))}</td>
    <td class="c-lab q cut">${labels.slice(0, 3).map(([k, v]) => html`<bdi title=${k + "=" + v}>${v.slice(0, 60)}</bdi> `)}${labels.length > 3 && html`<span class="qq">+${number(labels.length - 3)}</span>`}</td></tr>`;
}

const open = (r) => !r.finished;

function Progress({ run: r }) {
  if (r.kind === "Playbook") return html`<div class="prog"><span class="qq small">net</span><span class="qq small">${many(r.events, "event")}</span></div>`;
  if (r.kind === "World") return html`<div class="prog"><span class="qq small">world</span><span class="qq small">${many(r.events, "event")}</span></div>`;
  const p = r.progress;
  if (!p) return html`<span class="qq">–</span>`;
  return html`<div class="prog"><${Channel} done=${p.done} failed=${p.failed || 0} moving=${open(r) && r.status === "running" ? 1 : 0} total=${p.total} /><span class="q small" aria-label=${p.done + " of " + p.total + " steps done"}>${number(p.done)}/${number(p.total)}</span></div>`;
}

// Where describes the state of a run in a sentence.
function Where({ run: r }) {
  const text = whereOf(r);
  return html`<span class="cut block" title=${text.replaceAll("**", "").slice(0, 1000)}><${Sentence} text=${text} /></span>`;
}

function whereOf(r) {
  if (r.parked) return "parked: " + r.parked;
  if (r.held) return "held since it was imported, until a person resumes it";
  if (r.status === "completed") return "in " + took(ms(r.ended) - ms(r.started));
  if (r.finished) return (r.code ? "**" + r.code + "**" : wordsOf[r.status] || r.status) + ", after " + took(ms(r.ended) - ms(r.started));
  const w = r.waits?.find((x) => x.kind === "person") || r.waits?.[0];
  if (!w) return r.progress?.failed ? many(r.progress.failed, "step") + " failed, others go on" : r.status === "running" ? "under way" : "";
  const until = w.until ? ", " + left(ms(w.until)) : "";
  const step = w.step ? "**" + w.step.slice(0, 200) + "**" : "";
  switch (w.kind) {
    case "person": return "for **" + (w.name || "a person") + "**: decide " + step + until;
    case "message": return "for the message **" + (w.name || "") + "**" + (step ? " at " + step : "") + until;
    case "timer": return (step || "timer") + until;
    case "paused": return "paused" + (w.name ? " by **" + w.name + "**" : "");
    case "worker": return "for a worker that serves **" + (w.name || "its operation") + "**" + (step ? " at " + step : "");
    case "gate": return step ? "tokens behind the gate of " + step : "tokens behind a gate";
  }
  return w.kind + " " + (w.name || "") + " " + step + until;
}

const wordsOf = { aborted: "a command ended it", deadline_exceeded: "its deadline has passed", partial: "some branches failed", step_timeout: "a step timed out" };

// First is the page of a server on which nothing has run.
const First = () => html`<div class="first"><svg class="art" viewBox="0 0 1280 176" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
  <path class="watr" d="M0 65c20-9 42-9 62 0s42 9 62 0 42-9 62 0 42 9 62 0 42-9 62 0 42 9 62 0 42-9 62 0 42 9 62 0 42-9 62 0 42 9 62 0V122H0z" /><path class="surf" d="M0 65c20-9 42-9 62 0s42 9 62 0 42-9 62 0 42 9 62 0 42-9 62 0 42 9 62 0 42-9 62 0 42 9 62 0 42-9 62 0 42 9 62 0" /><path class="ground" d="M0 122h1280" /><path class="bedline" d="M676 115h604" />
  <path class="wallp" d="M616 10h8v120h-8zM656 10h8v120h-8zM608 4h64v7h-64zM638 11h4v48h-4z" /><path class="leafp" d="M624 58h32v68h-32z" /></svg>
  <div class="hi"><h1>Nothing has run here yet</h1><p class="lead">The server is up. The gate opens with the first workflow; from then on, this page shows everything it does, live.</p></div>
  <div class="ways sheet"><section><h2>Publish a workflow</h2><p>A file is enough. Its name stands for its newest version.</p><pre class="cmd">sluice publish order.yaml --data ./journal</pre></section>
  <section><h2>Start a run</h2><p>From a terminal, or from any program by HTTP.</p><pre class="cmd">sluice start order --data ./journal</pre></section>
  <section><h2>Watch it</h2><p>The run appears here as soon as it has begun. Every wait says for whom and until when.</p></section></div></div>`;
