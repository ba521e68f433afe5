// An act on all runs of a query, or on the chosen ones. The page counts the affected runs first and sends the count along: if the runs
// have changed since, the server refuses the act.
import { html, useEffect, useState } from "../ui.js";
import { get, may, of, post, word } from "../api.js";
import { many, number } from "../time.js";
import { Dialog, Fault, Loading, Name, Opens, unreachable } from "../parts.js";

const acts = { retry: "Retry failed steps", cancel: "Cancel", pause: "Pause", resume: "Resume", rerun: "Run again", move: "Move" };

export function BulkActs({ q }) {
  const [act, setAct] = useState("");
  if (!q || !may("operator")) return null;
  return html`<span class="q small">All runs of this query:</span>${Object.keys(acts).map((a) => html`<${Opens} key=${a} class=${"s" + (a === "cancel" ? " bad" : "")} onClick=${() => setAct(a)}>${acts[a]}…<//>`)}
    ${act && html`<${Bulk} ...${{ act, q, close: () => setAct("") }} />`}`;
}

// Bulk is the dialog of an act; with runs, the query selects these.
function Bulk({ act, q, runs, close }) {
  const [preview, setPreview] = useState(null);
  const [problem, setProblem] = useState(null);
  const [reason, setReason] = useState("");
  const [begun, setBegun] = useState(null);
  const [mode, setMode] = useState("failed"); // of a rerun: the steps that run again
  const [workflow, setWorkflow] = useState(""); // of a move: the workflow under which the runs go on
  const [turn, setTurn] = useState(0);
  const how = { act, q, ...(act === "rerun" && { rerun: { [mode]: true } }), ...(act === "move" && { workflow }) };
  useEffect(() => {
    setProblem(null);
    setPreview(null);
    if (act === "move" && !workflow) return;
    const stop = new AbortController();
    post("/v1/bulk?dry=true", how, {}, stop.signal).then(setPreview, (e) => { if (!stop.signal.aborted) setProblem(e); });
    return () => stop.abort();
  }, [mode, workflow, turn]);
  const end = () => close(begun);
  const count = () => setTurn((n) => n + 1);
  const begin = async () => {
    try {
      setBegun(await post("/v1/bulk", { ...how, expect: preview.count, reason }));
    } catch (e) {
      setProblem(e);
    }
  };
  useEffect(() => {
    if (!begun || begun.ended) return;
    const timer = setTimeout(() => get("/v1/bulk/" + begun.id).then((a) => setBegun(a.act), setProblem), 400);
    return () => clearTimeout(timer);
  }, [begun]);
  return html`<${Dialog} title=${acts[act]} onClose=${end}>${runs ? html`<${Names} runs=${runs} />` : html`<p class="q">All runs of <code>${q}</code></p>`}
    ${!begun && act === "rerun" && html`<fieldset class="modes"><legend class="vh">What runs again</legend>${[["failed", "Failed steps"], ["changed", "Steps with another operation or input"]].map(([m, text]) => html`<label key=${m}><input type="radio" name="mode" checked=${mode === m} onChange=${() => setMode(m)} />${text}</label>`)}</fieldset>`}
    ${!begun && act === "move" && html`<label class="stack">Workflow <span class="qq">published, such as order or order@3</span><input data-first class="code" spellcheck="false" value=${workflow} onChange=${(e) => setWorkflow(e.target.value.trim())} /></label>`}
    ${begun ? html`<div class="plan" role="status"><div><b>${number(begun.done)}</b> of ${number(begun.count)} done${begun.already > 0 && html`, ${number(begun.already)} were so already`}${begun.refused > 0 && html`, ${number(begun.refused)} refused`}</div><progress max=${begun.count} value=${begun.count - begun.left} aria-label="Progress" />${begun.ended && html`<p class="small q">It has ended.</p>`}</div>`
      : problem ? html`<${Fault} problem=${problem} again=${count} />` : !preview ? act === "move" && !workflow ? "" : html`<${Loading} rows=${2} />` : html`<div class="plan" role="status"><div><b>${number(preview.count)}</b> ${preview.count === 1 ? "run" : "runs"} ${runs ? "chosen" : "of this query"}; for <b>${number(preview.will)}</b> something changes${preview.steps > 0 && html`; <b>${many(preview.steps, "step")}</b> ${act === "rerun" ? "will run" : "asked again"}`}${preview.may > 0 && html`, ${number(preview.may)} may run`}${preview.kept > 0 && html`, ${number(preview.kept)} kept`}.</div>
        ${preview.already > 0 && html`<p class="small q">${number(preview.already)} ${preview.already === 1 ? "is so already, or has" : "are so already, or have"} ended.</p>`}${preview.refused > 0 && html`<p class="small q">${number(preview.refused)} would refuse: ${(preview.reasons || []).slice(0, 3).map((r) => r.why).join("; ")}</p>`}
        ${preview.not_idempotent?.length > 0 && html`<div class="note bad">Not idempotent: ${preview.not_idempotent.slice(0, 4).map((a) => `${a.step} (${number(a.count)})`).join(", ")}</div>`}</div>
        <label class="stack">Reason <span class="qq">kept in the journals, with your name</span><input maxlength="500" value=${reason} onInput=${(e) => setReason(e.target.value)} /></label>`}
    <footer><button class="btn" type="button" onClick=${end}>${begun ? "Close" : "Not now"}</button>${!begun && html`<button type="button" class=${"btn pri" + (act === "cancel" ? " danger" : "")} disabled=${!preview?.will || unreachable() !== ""} title=${unreachable() || undefined} onClick=${begin}>${act === "rerun" ? acts[act] : acts[act].split(" ")[0]} ${preview ? many(preview.will, "run") : ""}</button>`}</footer><//>`;
}

const Names = ({ runs }) => html`<p class="small q">${runs.slice(0, 20).map((r, i) => html`${i > 0 && ", "}<${Name} text=${r.run} />`)}${runs.length > 20 && ", …"}</p>`;

// selecting returns the query that selects runs and no others.
const selecting = (runs) => "run:" + runs.map((r) => word(r.run)).join(",");

const single = ["cancel", "pause", "resume"]; // acts that are requested for each run separately
const namesMax = 64, textMax = 4096; // that a query can have

// ChosenActs are acts on the runs that are chosen in the list, and on no others.
export function ChosenActs({ runs, clear }) {
  const [act, setAct] = useState("");
  const [todo, setTodo] = useState([]); // as they were when the person asked
  const q = selecting(runs), much = runs.length > namesMax || q.length > textMax;
  const close = (done) => { setAct(""); if (done) clear(); };
  return html`<div class="bulk" role="region" aria-label="Chosen runs"><b>${many(runs.length, "run")} chosen</b><button type="button" class="link" onClick=${clear}>None</button>
    <span class="end">${Object.keys(acts).map((a) => html`<${Opens} key=${a} class=${"s" + (a === "cancel" ? " bad" : "")} off=${much && !single.includes(a) && `This takes at most ${namesMax} runs at a time; of more, find them by a query`} onClick=${() => { setTodo(runs); setAct(a); }}>${a === "retry" ? "Retry" : acts[a]}…<//>`)}</span>
    ${single.includes(act) ? html`<${Chosen} ...${{ act, runs: todo, close }} />` : act && html`<${Bulk} ...${{ act, q: selecting(todo), runs: todo, close }} />`}</div>`;
}

function Chosen({ act, runs, close }) {
  const todo = runs.filter((r) => !r.finished);
  const [reason, setReason] = useState("");
  const [done, setDone] = useState(null);
  const begin = async () => {
    const ended = [];
    setDone(ended);
    for (const r of todo) {
      ended.push(await post(of(r.run, act), act === "resume" ? {} : { reason }).then(() => ({ r }), (problem) => ({ r, problem })));
      setDone([...ended]);
    }
  };
  const refused = done?.filter((d) => d.problem) || [];
  return html`<${Dialog} title=${acts[act]} onClose=${() => close(done)}>
    ${done ? html`<div class="plan" role="status"><div><b>${number(done.length - refused.length)}</b> of ${number(todo.length)} done${refused.length > 0 && html`, ${number(refused.length)} refused`}</div><progress max=${todo.length} value=${done.length} aria-label="Progress" />${refused.slice(0, 5).map((d) => html`<p class="small q"><${Name} text=${d.r.run} />: <bdi>${d.problem.message}</bdi></p>`)}</div>`
      : html`<div class="plan"><div><b>${many(todo.length, "run")}</b>${todo.length < runs.length && html`; ${number(runs.length - todo.length)} of the chosen have ended`}</div><${Names} runs=${todo} /></div>
        ${act !== "resume" && html`<label class="stack">Reason <span class="qq">kept in the journals, with your name</span><input data-first maxlength="500" value=${reason} onInput=${(e) => setReason(e.target.value)} /></label>`}`}
    <footer><button class="btn" type="button" onClick=${() => close(done)}>${done ? "Close" : "Not now"}</button>${!done && html`<button type="button" class=${"btn pri" + (act === "cancel" ? " danger" : "")} disabled=${!todo.length || unreachable() !== ""} title=${unreachable() || undefined} onClick=${begin}>${acts[act]} ${many(todo.length, "run")}</button>`}</footer><//>`;
}
