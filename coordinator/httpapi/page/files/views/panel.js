// The panel of a step: the reasons for its status, its attempts, its output, and the possible acts.
import { html, useEffect, useState } from "../ui.js";
import { at, go, withQuery } from "../route.js";
import { may, of, query } from "../api.js";
import { Mark, wordOf } from "../mark.js";
import { left, ms, now, said, took } from "../time.js";
import { Act, Confirm, Fault, Loading, Name, Opens, plain, Time, useGet } from "../parts.js";
import { Tree } from "../tree.js";
import { Participants } from "./fanouts.js";
import { Rerun } from "./rerun.js";
import { Taken } from "./decisions.js";
import { Patch, Send } from "./write.js";

export function Panel({ model, run, step }) {
  model.version.value;
  const turn = model.details.value;
  const s = model.steps.get(step), status = model.index.has(step) ? model.statusOf(step) : "";
  const close = withQuery({ step: "" });
  useEffect(() => {
    const escape = (e) => { if (e.key === "Escape" && !document.querySelector("dialog[open]")) go(close); };
    addEventListener("keydown", escape);
    return () => removeEventListener("keydown", escape);
  }, [close]);
  return html`<aside class="panel" aria-label=${"Step " + step.slice(0, 200)}><header data-stay><h2>${status && html`<${Mark} status=${status} />`}<${Name} text=${step} max=${30} /><span class="q small">${status && wordOf(status)}</span>
    <a class="x" href=${close} aria-label="Close"><svg viewBox="0 0 12 12" aria-hidden="true"><path d="M2 2l8 8M10 2l-8 8" /></svg></a></h2></header>
    <div class="scroll" tabindex="0" role="region" aria-label="About the step">
    <${Why} ...${{ run, step, turn, status }} />
    <${Attempts} ...${{ run, step, s, turn }} />
    ${s?.failure && html`<${Failure} failure=${s.failure} />`}
    ${s && (s.output !== undefined || s.preview) && html`<${Result} ...${{ run, s }} />`}
    <${Input} ...${{ run, step, turn: s?.attempts }} /></div>
    <${Foot} ...${{ model, run, step, s, status }} /></aside>`;
}

// Why shows the explanation of the server: each reason, with those below it, and the event that decided.
function Why({ run, step, turn, status }) {
  const { value: x, problem, again } = useGet(of(run.run, "explain") + query({ step }), status + turn);
  if (problem && !x) return html`<div class="sec"><h3>Why</h3><${Fault} problem=${problem} again=${again} /></div>`;
  if (!x) return html`<div class="sec"><h3>Why</h3><${Loading} rows=${2} /></div>`;
  const flat = [];
  const walk = (list, depth) => {
    for (const r of list || []) {
      flat.push({ ...r, depth });
      if (depth < 3) walk(r.reasons, depth + 1);
    }
  };
  walk(x.reasons, 0);
  return html`<div class="sec"><h3>Why${x.decided && html`<span class="end">decided by${" "}<${Seq} of=${x.decided} /></span>`}</h3><ol class="chain">
    <li><${Mark} status=${status || x.status} /><span class="strong">${capital(wordOf(status || x.status))}</span>${x.decided && html`<small>since <${Time} at=${x.decided.at} />${x.decided.actor && html`, by <bdi>${x.decided.actor}</bdi>`}${x.decided.reason && html`: <bdi>${x.decided.reason}</bdi>`}</small>`}</li>
    ${flat.slice(0, 12).map((r, i) => html`<li key=${i}><${Mark} status=${shapeOfReason(r)} />${r.decided && html`<${Seq} of=${r.decided} />`}<bdi>${capital(said(plain(r.text.slice(0, 1000))))}</bdi>${r.due && html`<small>${left(ms(r.due))}</small>`}
      ${r.values && html`<small class="code">${Object.entries(r.values).slice(0, 6).map(([k, v]) => html`<bdi class="block">${k} = ${JSON.stringify(v)}</bdi>`)}</small>`}</li>`)}</ol></div>`;
}

const Seq = ({ of: e }) => html`<a class="ev" href=${withQuery({ tab: "events", from: String(Math.max(1, e.seq - 5)) })} title=${e.type}>#${e.seq}</a>`;
const capital = (t) => (/^[a-z]+( |$)/.test(t) ? t[0].toUpperCase() + t.slice(1) : t);
const shapeOfReason = (r) => ({ failure: "failed", person: "person", timer: "waiting", message: "waiting", call: "running", pause: "paused", parked: "parked", nobody: "ready" })[r.kind] || (/failed/.test(r.text) ? "failed" : /completed/.test(r.text) ? "completed" : "waiting");

// Attempts draws the attempts, from the events of the step.
function Attempts({ run, step, s, turn }) {
  const { value } = useGet(of(run.run, "events") + query({ step, limit: "200" }), (s?.attempts || 0) + (s?.ended || ""));
  if (s?.dispatches?.length) return html`<${Participants} ...${{ run, s }} />`;
  if (!value || !s?.attempts) return null;
  const tries = new Map();
  for (const e of value.items) {
    if (!e.attempt || !["call.requested", "call.responded", "call.error", "call.aborted"].includes(e.type)) continue;
    const t = tries.get(e.attempt) || { n: e.attempt };
    if (e.type === "call.requested") t.began = ms(e.at);
    else Object.assign(t, { ended: ms(e.at), failure: e.failure, ok: e.type === "call.responded" });
    tries.set(e.attempt, t);
  }
  const list = [...tries.values()].filter((t) => t.began);
  if (!list.length) return null;
  const whole = (list.at(-1).ended || now.value) - list[0].began;
  const busy = list.reduce((sum, t) => sum + ((t.ended || now.value) - t.began), 0);
  return html`<div class="sec"><h3>Attempts<span class="end">${took(whole)}${list.length > 1 && html`, of it ${took(whole - busy)} pauses`}</span></h3>
    <table class="tries"><tbody>${list.slice(-12).map((t) => html`<tr key=${t.n}><th scope="row">${t.n}</th><td><${Bar} ...${{ t, from: list[0].began, whole }} /></td><td class="num">${took((t.ended || now.value) - t.began)}</td><td class="cut"><bdi>${t.failure?.code || (t.ok ? "answered" : t.ended ? "stopped" : "in progress")}</bdi></td></tr>`)}</tbody></table></div>`;
}

function Bar({ t, from, whole }) {
  const x = (v) => (100 * (v - from)) / Math.max(1, whole);
  const left = x(t.began), width = whole ? Math.max(2, x(t.ended || now.value) - left) : 100;
  return html`<svg class="try" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><path class="gap" d="M0 5H100" /><rect class=${t.ok ? "d" : t.ended ? "f" : "p"} x=${Math.min(whole ? 98 : 0, left)} y="1" width=${width} height="8" /></svg>`;
}

export const Failure = ({ failure: f }) => html`<div class="sec"><h3>Error<span class="end">${f.retryable ? "may be retried" : "not retryable"}</span></h3><div class="json"><em>${f.code}</em> <bdi>${(f.message || "").slice(0, 4000)}</bdi></div>
  ${f.details !== undefined && html`<div class="under"><${Tree} value=${f.details} open=${1} /></div>`}</div>`;

// Result shows an output; a large one is read on demand.
function Result({ run, s }) {
  const [all, setAll] = useState(false);
  const { value, problem, again } = useGet(all ? of(run.run, "steps", s.step, "output") : "");
  return html`<details class="sec fold" open><summary><h3>Output${s.preview && html`<span class="end">large</span>`}</h3></summary>
    ${s.output !== undefined ? html`<${Tree} value=${s.output} />` : value !== null && all ? html`<${Tree} value=${value} />` : html`<div class="json cutlines"><bdi>${s.preview}…</bdi></div>
      <button class="btn s under" type="button" onClick=${() => setAll(true)}>Load all of it</button>`}${problem && html`<${Fault} problem=${problem} again=${again} />`}</details>`;
}

function Input({ run, step, turn }) {
  const [open, setOpen] = useState(false);
  const { value, problem, again } = useGet(open ? of(run.run, "events") + query({ step, limit: "50" }) : "", turn || 0);
  const asked = value?.items.findLast((e) => e.type === "call.requested" && (e.value !== undefined || e.large));
  return html`<details class="sec fold" onToggle=${(e) => setOpen(e.target.open)}><summary><h3>Input</h3></summary>
    ${problem ? html`<${Fault} problem=${problem} again=${again} />` : !value ? open && html`<${Loading} rows=${1} />` : asked ? html`<${Asked} event=${asked} />` : html`<p class="q small">It has none, or was not asked yet.</p>`}</details>`;
}

// Asked shows the input of a call or a run; a large one is read on demand.
export function Asked({ event }) {
  const [all, setAll] = useState(false);
  const { value, problem, again } = useGet(all ? event.whole : "");
  if (event.value !== undefined || value) return html`<${Tree} value=${(value || event).value} open=${3} />`;
  return html`<div class="json cutlines"><bdi>${event.large.preview}…</bdi></div>
    ${problem ? html`<${Fault} problem=${problem} again=${again} />` : html`<button class="btn s under" type="button" onClick=${() => setAll(true)}>Load all of it</button>`}`;
}

// Foot has the acts that the step's status allows, and their effects.
function Foot({ model, run, step, s, status }) {
  const [open, setOpen] = useState("");
  const [problem, setProblem] = useState(null);
  if (!may("operator") || !s) return null;
  const done = () => model.again();
  const close = () => setOpen("");
  const waits = (kind) => run.awaits?.some((a) => a.step === step && a.kind === kind);
  const over = (kind) => !waits(kind) && `The step does not wait for it any more: it is ${wordOf(status)}.`;
  const acts = [];
  if (s.decidable) acts.push(html`<${Opens} class="pri" onClick=${() => setOpen("fulfilled")}>Fulfilled…<//>`, html`<${Opens} onClick=${() => setOpen("not_fulfilled")}>Refused…<//>`);
  if (waits("message")) acts.push(html`<${Opens} class="pri" onClick=${() => setOpen("send")}>Send…<//>`);
  if (waits("gate")) acts.push(html`<${Opens} class="pri" onClick=${() => setOpen("patch")}>Patch…<//>`);
  if (status === "failed" || status === "aborted") acts.push(html`<${Act} class="pri" path=${of(run.run, "steps", step, "retry")} onProblem=${setProblem} onDone=${done}>Retry <${Name} text=${step} max=${18} /><//>`);
  const moves = ["running", "ready", "waiting", "person"].includes(status);
  if (moves) acts.push(html`<${Opens} class="bad" onClick=${() => setOpen("abort")}>Stop…<//>`);
  if (["completed", "failed", "aborted"].includes(status)) acts.push(html`<${Opens} onClick=${() => setOpen("rerun")}>Rerun from here…<//>`);
  if (!acts.length && !open) return null;
  return html`<footer>${problem && html`<${Fault} problem=${problem} />`}
    ${(status === "failed" || status === "aborted") && html`<p class="small q">Retry sends the same idempotency key: operations can detect that.</p>`}
    <div class="acts">${acts}</div>
    ${open === "send" && html`<${Send} ...${{ run, step, over: over("message"), close, done }} />`}
    ${open === "patch" && html`<${Patch} ...${{ run, step, over: over("gate"), close, done }} />`}
    ${open === "rerun" && html`<${Rerun} ...${{ run, step, close }} />`}
    ${open === "abort" && html`<${Confirm} title="Stop the step" over=${!moves && `The step has ended meanwhile: it is ${wordOf(status)}.`} say="Its call is stopped. Steps that need it will not run, unless the workflow catches that." path=${of(run.run, "steps", step, "abort")} word="Stop it" bad onClose=${close} onDone=${done} />`}
    ${(open === "fulfilled" || open === "not_fulfilled") && html`<${Decide} ...${{ run, step, s, decision: open, close, done }} />`}</footer>`;
}

function Decide({ run, step, s, decision, close, done }) {
  const yes = decision === "fulfilled";
  return html`<${Confirm} over=${!s.decidable && html`<${Taken} ...${{ run: run.run, step, attempt: s.attempts }} />`} title=${yes ? "It is done as meant" : "It is not done as meant"} path=${of(run.run, "steps", step, "decide")} body=${{ decision }} match=${run.events} onClose=${close} onDone=${done} onChanged=${done} word=${yes ? "Fulfilled" : "Refused"}
    say=${yes ? "The step counts as fulfilled, and what follows it starts." : "The step counts as not fulfilled; the workflow defines the result."} />`;
}
