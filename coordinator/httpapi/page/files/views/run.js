// A run: the reason why it does not go on, the possible acts, and its steps, events and output.
import { html, useEffect, useMemo, useState } from "../ui.js";
import { at, go, here, withQuery } from "../route.js";
import { may, of } from "../api.js";
import { RunModel } from "../model.js";
import { Chip, statuses, wordOf } from "../mark.js";
import { age, awaitedOf, left, many, ms, now, number, took } from "../time.js";
import { Confirm, Fault, Loading, Name, Opens, plain, Sentence, Time, useTitle } from "../parts.js";
import { GraphView } from "./graph.js";
import { Rerun } from "./rerun.js";
import { Patch, Send } from "./write.js";
import { Steps } from "./steps.js";
import { Panel } from "./panel.js";
import { Cells } from "./cells.js";
import { Fanouts, fansOf } from "./fanouts.js";
import { Timeline } from "./timeline.js";
import { Events } from "./events.js";
import { Output } from "./output.js";
import { Log } from "./log.js";

const tabs = [
  { id: "graph", name: "Graph", show: GraphView },
  { id: "steps", name: "Steps", show: Steps },
  { id: "timeline", name: "Timeline", show: Timeline },
  { id: "fanouts", name: "Fan-outs", show: Fanouts, count: (model) => fansOf(model).length },
  { id: "cells", name: "Cells", show: Cells, world: true },
  { id: "events", name: "Events", show: Events, count: (model) => model.seq.value },
  { id: "output", name: "Output", show: Output },
  { id: "log", name: "Log", show: Log },
];

export function Run({ id }) {
  const model = useMemo(() => new RunModel(id), [id]);
  useEffect(() => () => model.close(), [model]);
  useTitle(id.slice(0, 100));
  const read = model.run.value, problem = model.problem.value;
  const run = read && model.ended.value && read.events < model.seq.value ? { ...read, finished: true } : read; // the feed was faster
  if (problem) return html`<main class="view" id="main" tabindex="-1"><div class="page"><div class="head"><h1><${Name} text=${id} max=${60} /></h1></div><${Fault} problem=${problem} title="The run cannot be shown." /><p class="under"><a href="/runs">All runs</a></p></div></main>`;
  const query = here.value.query;
  model.details.value;
  const shown = tabs.filter((t) => (run?.world ? t.world || t.id === "events" || t.id === "output" : !t.world && (t.id !== "fanouts" || t.count(model))));
  const tab = shown.find((t) => t.id === query.get("tab")) || shown[0];
  const step = query.get("step");
  return html`<main class="view run-view" id="main" tabindex="-1"><${Head} ...${{ model, run, tab, tabs: shown }} />
    <div class=${"split" + (step ? "" : " alone")}><div class="stage">${run ? html`<${tab.show} ...${{ model, run, step }} />` : html`<${Loading} rows=${10} />`}</div>
    ${step && run && html`<${Panel} key=${step} ...${{ model, run, step }} />`}</div></main>`;
}

function Head({ model, run, tab, tabs }) {
  const status = model.status.value || run?.status || "";
  const counts = model.counts.value;
  const failed = counts[statuses.indexOf("failed")];
  const asked = counts[statuses.indexOf("person")];
  return html`<section class="runhead"><div class="line"><h1><${Name} text=${model.id} max=${40} /></h1>
    ${status && html`<${Chip} status=${run?.parked ? "parked" : status}>${run?.parked ? "parked" : wordOf(status)}<//>`}
    ${failed > 0 && status !== "failed" && html`<${Chip} status="failed">${number(failed)} failed<//>`}
    ${asked > 0 && html`<${Chip} status="person">${asked === 1 ? "asks a person" : number(asked) + " asked"}<//>`}
    ${run && html`<span class="q not-n cut"><bdi title=${run.workflow.slice(0, 1000)}>${run.workflow.slice(0, 60)}</bdi> <span class="code small">${run.hash.slice(0, 6)}</span></span>
    <span class="q not-n nw"><${Since} run=${run} /></span><${Labels} labels=${run.labels} />`}
    <div class="end">${run && html`<${Acts} ...${{ model, run, status }} />`}</div></div>
    <p class="why">${run ? html`<${Why} ...${{ model, run, status }} />` : html`<span class="bed" />`}</p>
    <nav class="tabs" aria-label="Views of the run" data-stay>${tabs.map((t) => html`<a href=${withQuery({ tab: t.id === tabs[0].id ? "" : t.id })} aria-current=${t === tab ? "page" : undefined}>${t.name}${t.count && run ? html` <span class="n">${number(t.count(model))}</span>` : ""}</a>`)}
    ${(tab.id === "graph" || tab.id === "steps") && html`<div class="end"><${Find} /></div>`}</nav></section>`;
}

// Find marks the steps whose key has a text in it.
function Find() {
  const text = here.value.query.get("find") || "";
  return html`<div class="field"><svg viewBox="0 0 14 14" aria-hidden="true"><circle cx="6" cy="6" r="4.25" /><path d="M9.2 9.2 13 13" /></svg><input data-search type="search" aria-label="Find step" placeholder="Find step" value=${text}
    onInput=${(e) => go(withQuery({ find: e.target.value }), true)} onKeyDown=${(e) => { if (e.key === "Escape") { go(withQuery({ find: "" }), true); e.target.blur(); } }} /><kbd>/</kbd></div>`;
}

function Since({ run }) {
  const began = ms(run.started);
  if (run.finished) return html`${took(ms(run.updated) - began)}, from <${Time} at=${began} />`;
  return html`${age(began)}, since <${Time} at=${began} />`;
}

function Labels({ labels }) {
  const all = Object.entries(labels || {});
  return html`<span class="labels not-n">${all.slice(0, 3).map(([k, v]) => html`<span class="chip cut"><bdi title=${plain(k + "=" + v)}>${plain(k + "=" + v).slice(0, 60)}</bdi></span>`)}${all.length > 3 && html`<span class="chip">+${number(all.length - 3)}</span>`}</span>`;
}

// Why describes the state of a run in one sentence.
function Why({ model, run, status }) {
  model.version.value;
  return html`<${Sentence} text=${why(model, run, status)} />`;
}

function why(model, run, status) {
  const n = (name) => model.counts.value[statuses.indexOf(name)];
  const parts = [];
  if (run.parked) parts.push("This process cannot go on with it: " + run.parked + ".");
  if (run.held) parts.push("It was imported, and does not go on until a person resumes it.");
  const failed = model.keys.filter((_, i) => statuses[model.state[i]] === "failed" && !model.steps.get(model.keys[i])?.pending);
  if (failed.length) {
    const s = model.steps.get(failed[0]);
    let text = `**${failed[0].slice(0, 120)}** failed` + (s?.attempts > 1 ? ` after ${many(s.attempts, "attempt")}` : "") + (s?.failure ? ` (${s.failure.code})` : "");
    if (failed.length > 1) text += `, and ${many(failed.length - 1, "other step")} too`;
    if (n("aborted")) text += `, so **${many(n("aborted"), "step")}** will not run`;
    parts.push(text + ".");
  } else if (run.failure) parts.push(`**${run.failure.code}**: ${run.failure.message || ""}`);
  if (run.finished) {
    if (status === "completed") parts.push(`All is done: ${many(n("completed"), "step")} completed${n("skipped") ? ", " + number(n("skipped")) + " skipped" : ""}.`);
    else if (status === "aborted" && !failed.length) parts.push(`A command ended it; **${many(n("aborted"), "step")}** did not run to the end.`);
    else if (status === "deadline_exceeded") parts.push("Its deadline has passed.");
    return parts.join(" ");
  }
  const moving = n("running") + n("ready");
  if (moving) parts.push(`${many(moving, "step")} ${moving === 1 ? "moves" : "move"}.`);
  const waits = (run.awaits || []).filter((a) => a.kind !== "call" && a.kind !== "timer").slice(0, 2);
  const [one, other] = waits.map((a) => `${awaitedOf(a)}${a.until ? ", " + left(ms(a.until)) : ""}`);
  const who = (a) => (a.step ? "**" + a.step.slice(0, 120) + "**" : "It");
  if (other && who(waits[0]) === who(waits[1])) parts.push(`${who(waits[0])} ${one}, and ${other}.`);
  else if (one) parts.push(`${who(waits[0])} ${one}.`, ...(other ? [`${who(waits[1])} ${other}.`] : []));
  if (status === "paused") parts.push("It is paused: nothing new starts before it is resumed.");
  if (!parts.length) {
    const timer = (run.awaits || []).find((a) => a.kind === "timer" && a.step);
    if (timer) parts.push(`**${timer.step}** waits for ${timer.what}, ${left(ms(timer.until))}.`);
    else parts.push("It goes on by itself.");
  }
  return parts.join(" ");
}

// Acts are the commands to the whole run that the user may send.
function Acts({ model, run, status }) {
  const [open, setOpen] = useState("");
  if (!may("operator") || run.past) return null;
  const done = () => model.again();
  const close = () => setOpen("");
  const paused = status === "paused" || run.held;
  const over = run.finished && `The run has ended meanwhile: it is ${wordOf(status)}.`;
  return html`${!run.finished && html`${run.counts && html`<${Opens} onClick=${() => setOpen("patch")}>Patch…<//>`}<${Opens} onClick=${() => setOpen("send")}>Send…<//>
    ${paused ? html`<${Opens} onClick=${() => setOpen("resume")}>Resume<//>` : html`<${Opens} onClick=${() => setOpen("pause")}>Pause…<//>`}
    <${Opens} class="bad" onClick=${() => setOpen("cancel")}>Cancel…<//>`}
  ${run.finished && html`<${Opens} onClick=${() => setOpen("rerun")}>Rerun…<//>`}
  ${open === "rerun" && html`<${Rerun} ...${{ run, close }} />`}
  ${open === "patch" && html`<${Patch} ...${{ run, over, close, done }} />`}
  ${open === "send" && html`<${Send} ...${{ run, over, close, done }} />`}
  ${open === "pause" && html`<${Confirm} over=${over} title="Pause the run" say="Calls in progress go on to their end; nothing new starts until a person resumes it." path=${of(run.run, "pause")} word="Pause" onClose=${close} onDone=${done} />`}
  ${open === "resume" && html`<${Confirm} over=${over} title="Resume the run" say="Ready steps start at once." path=${of(run.run, "resume")} word="Resume" noReason onClose=${close} onDone=${done} />`}
  ${open === "cancel" && html`<${Confirm} over=${over} title="Cancel the run" say="Calls in progress are stopped, and nothing else starts. A cancelled run does not go on; it can be run again." path=${of(run.run, "cancel")} word="Cancel the run" bad onClose=${close} onDone=${done} />`}`;
}
