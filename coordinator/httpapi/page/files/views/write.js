// The texts that a person sends to a run: writes to the context, which gates read, and messages. With a step, its wait is suggested.
import { html, useState } from "../ui.js";
import { of } from "../api.js";
import { Act, Dialog, Fault, Over, parsed } from "../parts.js";

// Patch writes to the context, which gates read.
export function Patch({ run, step, over, close, done }) {
  const reads = [...new Set((run.awaits || []).filter((a) => !step || a.step === step).flatMap((a) => a.reads || []))].filter((r) => r.startsWith("ctx.")).map((r) => r.slice(4));
  const [path, setPath] = useState(reads[0] || "");
  const [text, setText] = useState("true");
  const [reason, setReason] = useState("");
  const [problem, setProblem] = useState(null);
  const [v, wrong] = parsed(text);
  return html`<${Dialog} title="Write to the context" onClose=${close}>${reads.length > 0 && html`<p class="q">Gates that are shut read <b>${reads.join(", ")}</b>.</p>`}
    <label class="stack">Path <span class="qq">as in ctx.PATH</span><input data-first class="code" list="ctx-paths" value=${path} onInput=${(e) => setPath(e.target.value)} /></label><datalist id="ctx-paths">${[...new Set([...reads, ...Object.keys(run.ctx || {})])].map((n) => html`<option value=${n} />`)}</datalist>
    <label class="stack">Value <span class="qq">JSON</span><textarea class="code" rows="3" spellcheck="false" value=${text} onInput=${(e) => setText(e.target.value)} /></label>${wrong && html`<p class="hint bad">${wrong}</p>`}
    <label class="stack">Reason <span class="qq">kept in the journal, with your name</span><input maxlength="500" value=${reason} onInput=${(e) => setReason(e.target.value)} /></label>${problem && html`<${Fault} problem=${problem} />`}<${Over} over=${over} />
    <footer><button class="btn" type="button" onClick=${close}>Not now</button><${Act} class="pri" disabled=${over || !path || wrong} path=${of(run.run, "patch")} body=${() => ({ changes: { [path]: v }, reason })} onProblem=${setProblem} onDone=${() => { close(); done(); }}>Write<//></footer><//>`;
}

// Send sends a message; the form suggests the messages for which the run waits.
export function Send({ run, step, over, close, done }) {
  const names = [...new Set((run.awaits || []).filter((a) => a.kind === "message" && (!step || a.step === step)).map((a) => a.name))].filter(Boolean);
  const [name, setName] = useState(names[0] || "");
  const [text, setText] = useState("");
  const [problem, setProblem] = useState(null);
  const [warning, setWarning] = useState("");
  const [payload, wrong] = parsed(text);
  return html`<${Dialog} title="Send a message" onClose=${close}><label class="stack">Name <input data-first list="message-names" value=${name} onInput=${(e) => setName(e.target.value)} /></label>
    <datalist id="message-names">${names.map((n) => html`<option value=${n} />`)}</datalist>
    <label class="stack">Payload <span class="qq">JSON; empty is null</span><textarea class="code" rows="4" spellcheck="false" value=${text} onInput=${(e) => setText(e.target.value)} /></label>
    ${wrong && html`<p class="hint bad">${wrong}</p>`}${problem && html`<${Fault} problem=${problem} />`}${warning ? html`<div class="note">${warning}</div>` : html`<${Over} over=${over} />`}
    <footer><button class="btn" type="button" onClick=${close}>Close</button><${Act} class="pri" disabled=${over || !name || wrong} path=${of(run.run, "messages")} body=${() => ({ name, payload })} onProblem=${setProblem}
      onDone=${(v) => { done(); if (v.warning) setWarning(v.warning); else close(); }}>Send<//></footer><//>`;
}
