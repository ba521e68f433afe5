// The cells of a world: the ones that are not well, and the state and the waits of one.
import { html } from "../ui.js";
import { go, here, withQuery } from "../route.js";
import { may, of, query } from "../api.js";
import { Mark, Status } from "../mark.js";
import { age, left, many, ms, number } from "../time.js";
import { Act, Empty, Fault, Loading, Name, Time, useGet } from "../parts.js";
import { Tree } from "../tree.js";

const kinds = ["failed", "waiting", "running", "completed", "paused"];

export function Cells({ model, run }) {
  const q = here.value.query, status = q.get("status") || "", machine = q.get("machine") || "", chosen = q.get("cell");
  const seq = model.seq.value;
  const list = useGet(of(run.run, "cells") + query({ status, machine, limit: "200" }), Math.floor(seq / 10) + model.details.value);
  const w = run.world;
  const machines = [...new Set((list.value?.items || []).map((c) => c.machine))];
  return html`<div class=${"cells-v" + (chosen ? " with" : "")}><div data-stay><div class="celltools"><nav class="filters" aria-label="Cells by status">${kinds.filter((k) => w[k] > 0).map((k) => html`<a href=${withQuery({ status: status === k ? "" : k })} aria-current=${status === k ? "true" : undefined}><${Status} status=${k} /> ${number(w[k])}</a>`)}
      ${machines.length > 1 || machine ? html`<select aria-label="Machine" value=${machine} onChange=${(e) => go(withQuery({ machine: e.target.value }))}><option value="">all machines</option>${machines.map((m) => html`<option value=${m}>${m}</option>`)}</select>` : ""}</nav></div>
    ${list.problem && !list.value ? html`<${Fault} problem=${list.problem} again=${list.again} />` : !list.value ? html`<${Loading} />` : !list.value.items.length ? html`<${Empty} title="No cell matches">A cell begins with the first event for its key.<//>` : html`<table class="list plain"><thead><tr><th scope="col">Status</th><th scope="col">Cell</th><th scope="col">Stands at</th><th scope="col" class="num">Open</th><th scope="col" class="num">Last</th></tr></thead>
      <tbody>${list.value.items.map((c) => html`<tr key=${c.cell} class=${c.cell === chosen ? "chosen" : ""}><td><${Status} status=${c.paused ? "paused" : c.status} /></td><td class="cut"><a class="id code" data-row href=${withQuery({ cell: c.cell })}><${Name} text=${c.cell} max=${36} /></a></td>
        <td class="cut q"><bdi>${standsAt(c)}</bdi></td><td class="num q">${number(c.intents?.length || 0)}</td><td class="num q">${c.active ? age(ms(c.active)) : ""}</td></tr>`)}</tbody></table><div class="foot">${many(list.value.items.length, "cell")} of ${number(w.cells)}</div>`}</div>
    ${chosen && html`<${Cell} key=${chosen} ...${{ run, cell: chosen, seq, model }} />`}</div>`;
}

// moments are the shapes of events that open or drop something, or stop a cell.
const moments = { "call.requested": "running", "intent.emitted": "waiting", "intent.dropped": "aborted", "call.aborted": "aborted", "cell.ignored": "skipped", "cell.expired": "aborted", "cell.paused": "paused", "cell.failed": "failed" };

function standsAt(c) {
  if (c.failure) return c.failure.code + (c.failure.message ? ": " + c.failure.message : "");
  const i = c.intents?.[0];
  if (i) return (i.effect === "timer" ? "timer " + i.issuer : i.effect) + (i.due ? ", " + left(ms(i.due)) : "");
  return c.held ? many(c.held, "item") + " of mail held" : c.state ? JSON.stringify(c.state).slice(0, 120) : "";
}

function Cell({ run, cell, seq, model }) {
  const { value: c, problem, again } = useGet(of(run.run, "cells", cell), seq);
  const views = useGet(of(run.run, "views") + query({ step: cell }), seq);
  return html`<aside class="panel" aria-label=${"Cell " + cell.slice(0, 200)}><header data-stay><h2>${c && html`<${Mark} status=${c.paused ? "paused" : c.status} />`}<span class="code cut"><${Name} text=${cell} max=${30} /></span><a class="x" href=${withQuery({ cell: "" })} aria-label="Close"><svg viewBox="0 0 12 12" aria-hidden="true"><path d="M2 2l8 8M10 2l-8 8" /></svg></a></h2></header>
    <div class="scroll" tabindex="0" role="region" aria-label="About the cell">${problem ? html`<${Fault} problem=${problem} again=${again} />` : !c ? html`<${Loading} />` : html`
      ${c.failure && html`<div class="sec"><h3>Error</h3><div class="json"><em>${c.failure.code}</em> <bdi>${c.failure.message}</bdi></div></div>`}
      <div class="sec"><h3>State<span class="end">since #${c.last_seq || ""}</span></h3>${c.state !== undefined ? html`<${Tree} value=${c.state} open=${2} />` : html`<div class="json cutlines"><bdi>${c.state_preview || "none"}</bdi></div>`}</div>
      ${c.intents?.length > 0 && html`<div class="sec"><h3>Waits for<span class="end">${number(c.intents.length)} open</span></h3><ul class="asked">${c.intents.slice(0, 50).map((i) => html`<li><${Mark} status=${i.effect === "timer" ? "waiting" : i.status || "running"} /><span class="cut"><bdi class="mid">${i.effect === "timer" ? "timer " + i.issuer : i.effect}</bdi></span><span class="q num">${i.due ? left(ms(i.due)) : i.attempts > 1 ? "attempt " + i.attempts : ""}</span></li>`)}</ul></div>`}
      <div class="sec"><h3>What happened</h3><ol class="chain">${(views.value?.items || []).slice(-60).toReversed().map((v, i) => html`<li key=${i}><${Mark} status=${v.failure ? "failed" : moments[v.type] || "completed"} /><a class="ev" href=${withQuery({ tab: "events", from: String(Math.max(1, v.seq - 3)) })}>#${v.seq}</a><span class="mid">${v.type.replaceAll(".", " ")}</span> <bdi>${v.name || ""}</bdi><small><${Time} at=${v.at} />${v.value !== undefined && html` <code class="cut block"><bdi>${JSON.stringify(v.value).slice(0, 200)}</bdi></code>`}</small></li>`)}</ol></div>`}</div>
    ${c && may("operator") && !run.finished && html`<footer><div class="acts"><${Act} path=${of(run.run, "cells", cell, c.paused ? "resume" : "pause")} onDone=${() => model.again()}>${c.paused ? "Let it go on" : "Hold it"}<//></div></footer>`}</aside>`;
}
