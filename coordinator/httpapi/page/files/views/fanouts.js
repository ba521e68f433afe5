// Steps that have asked several participants: how many answers there are, how many are needed, and from whom.
import { html } from "../ui.js";
import { withQuery } from "../route.js";
import { Mark, Status } from "../mark.js";
import { many, ms, now, number, took } from "../time.js";
import { Loading, Name, useGet } from "../parts.js";
import { layoutOf } from "./graph.js";

// fansOf returns the steps that have asked several participants.
export const fansOf = (model) => [...model.steps.values()].filter((s) => new Set(s.dispatches?.map((d) => d.participant)).size > 1);

const words = { responded: "answered", pending: "asked" };
const shapes = { responded: "completed", pending: "running", failed: "failed", timeout: "aborted", cancelled: "aborted", late: "skipped" };
const bars = { responded: "d", pending: "p", failed: "f" };

// useRules reads the rule by which the answers of each step become one, from the drawing: a function of the step's key.
function useRules(run) {
  const { value } = useGet(layoutOf(run));
  return (step) => value?.labels[value.keys.indexOf(step)] || "";
}

// fanOf counts the answers of a step, and the answers that it needs; 0: unknown.
function fanOf(s, rule) {
  const last = new Map(s.dispatches.map((d) => [d.participant, d]));
  const of = last.size, n = (state) => [...last.values()].filter((d) => d.state === state).length;
  const need = !rule ? 0 : rule.startsWith("all") ? of : Number(/ (\d+)$/.exec(rule)?.[1] || 1);
  const same = JSON.stringify(s.output);
  const taken = /^(any|best)/.test(rule) && s.status === "completed" && s.output !== undefined
    ? s.dispatches.filter((d) => d.state === "responded" && JSON.stringify(d.output) === same).sort((a, b) => ms(a.ended) - ms(b.ended))[0] : null;
  return { of, need, have: n("responded"), open: n("pending"), taken, best: rule.startsWith("best") && /best of ([^,]*), (\w+)/.exec(rule) };
}

// Gauge is a chamber that fills with answers; its gate opens at the mark.
export function Gauge({ f, s }) {
  const top = Math.max(f.of, f.need), unit = Math.min(27, 135 / top), bottom = 18 + top * unit, y = bottom - f.have * unit;
  const isOpen = s.status === "completed", wave = "M3 0q12.5-4 25 0t25 0 25 0 25 0";
  return html`<svg class="gauge" viewBox=${`0 0 136 ${bottom + 6}`} role="img" aria-label=${f.have + " of " + f.of + " answered" + (f.need ? ", needed " + f.need : "")}>
    <rect class="pool" x="3" y=${y} width="100" height=${bottom - y} />${f.have > 0 && html`<path class="pool" d=${wave + "V2H3z"} transform=${`translate(0 ${y})`} /><path class="top-line" d=${wave} transform=${`translate(0 ${y})`} />`}
    <path class="wall" d=${`M3 6V${bottom}H134M103 6V${bottom - (isOpen ? 50 : 26)}`} />${isOpen && html`<path class="pool" d=${`M105 ${bottom - 11}h29v10h-29z`} /><path class="top-line" d=${`M107 ${bottom - 11}q7-3 14 0t13 0`} />`}
    <rect class=${"leafg" + (isOpen ? " open" : s.status === "failed" ? " shut" : "")} x="100" y=${bottom - (isOpen ? 48 : 22)} width="6" height="21" rx="1" />
    ${f.need > 0 && html`<path class="need" d=${`M3 ${bottom - f.need * unit}H115`} /><text x="11" y=${bottom - f.need * unit - 5}>needs ${f.need}</text>`}</svg>`;
}

// said describes the state of a fan-out in words.
function said(f, s) {
  if (s.status === "completed") return ["Open", f.taken ? f.taken.participant.slice(0, 100) + (f.best ? " was the best." : " was first.") : `${f.have} of ${f.of} have answered.`];
  if (s.status === "failed") return ["Shut", (s.failure?.message || s.failure?.code || "").slice(0, 200)];
  const left = f.need - f.have, still = f.open ? ` ${f.open === 1 ? "One is" : f.open + " are"} still asked.` : "";
  if (s.status !== "running" || !f.need) return [`${f.have} of ${f.of}`, still];
  return [`${f.have} of ${f.need}`, (left > 0 ? `${left === 1 ? "One more opens" : left + " more open"} it.` : "There are enough.") + still];
}

export function Fanouts({ model, run }) {
  model.details.value;
  const rule = useRules(run);
  return html`<div class="page" data-stay><div class="sheet">${fansOf(model).slice(0, 100).map((s) => html`<${Fan} key=${s.step} ...${{ s, rule: rule(s.step) }} />`)}</div></div>`;
}

function Fan({ s, rule }) {
  const f = fanOf(s, rule), [head, text] = said(f, s);
  const from = Math.min(...s.dispatches.map((d) => ms(d.asked) || Infinity)), to = Math.max(from + 1, f.open ? now.value : 0, ...s.dispatches.map((d) => ms(d.ended))), whole = to - from;
  return html`<section class="fan" aria-label=${s.step.slice(0, 200)}><div class="side-g"><${Gauge} ...${{ f, s }} /><div><p class="say">${head}</p><p class="small q"><bdi>${text}</bdi></p></div></div>
    <div class="body"><header><h2><a class="id" data-row href=${withQuery({ step: s.step })}><${Name} text=${s.step} max=${40} /></a></h2><${Status} status=${s.status} /><span class="q">${rule && rule + ", "}${many(f.of, "participant")}</span></header>
    <table class="list fanl"><thead><tr><th scope="col">State</th><th scope="col">Participant</th><th scope="col" class="num">${f.best ? f.best[1].replace(/^\//, "") : "Answer"}</th><th scope="col" class="num">Took</th><th scope="col">0 to ${took(whole)}</th><th scope="col">Note</th></tr></thead>
    <tbody>${s.dispatches.slice(0, 300).map((d, i) => html`<${Asked} key=${i} ...${{ d, f, from, to }} />`)}</tbody></table></div></section>`;
}

function Asked({ d, f, from, to }) {
  const x = (t) => (238 * (t - from)) / (to - from), begin = ms(d.asked), end = ms(d.ended) || to;
  const note = d === f.taken ? "taken" + (f.best ? ": " + f.best[2] : ": first") : d.failure ? d.failure.code + (d.failure.retryable ? "" : ", final") : d.state === "cancelled" ? "not needed" : d.attempt > 1 ? "attempt " + d.attempt : "";
  return html`<tr class=${d === f.taken ? "taken" : ""}><td><${Status} status=${shapes[d.state] || "waiting"}>${words[d.state] || d.state}<//></td><td class="cut mid"><${Name} text=${d.participant} max=${28} /></td><td class="num cut"><bdi>${d.state === "responded" ? shortOf(d, f) : ""}</bdi></td>
    <td class="num q">${begin ? took(end - begin) : ""}</td><td>${begin > 0 && html`<svg class="lane" viewBox="0 0 240 20" preserveAspectRatio="none" aria-hidden="true"><rect class=${bars[d.state] || "c"} x=${1 + x(begin)} y="6" width=${Math.max(3, x(end) - x(begin))} height="8" rx="2" /></svg>`}</td><td class="q cut" title=${d.failure?.message?.slice(0, 500)}><bdi>${note}</bdi></td></tr>`;
}

// shortOf is the compared part of an answer, or its beginning.
function shortOf(d, f) {
  let v = d.output;
  if (f.best) for (const part of f.best[1].split("/").slice(1)) v = v?.[part.replaceAll("~1", "/").replaceAll("~0", "~")];
  if (v === undefined) v = d.preview || d.output;
  return typeof v === "number" ? number(v) : (typeof v === "string" ? v : JSON.stringify(v) || "").slice(0, 80);
}

// Participants shows, in the panel of a step, the participants that it has asked, and their answers.
export function Participants({ run, s }) {
  const rule = useRules(run)(s.step), f = fanOf(s, rule), [head, text] = said(f, s);
  return html`<div class="sec"><h3>Asked<span class="end">${rule || many(f.of, "participant")}</span></h3>${f.of > 1 && html`<div class="side-g"><${Gauge} ...${{ f, s }} /><div><p class="say">${head}</p><p class="small q"><bdi>${text}</bdi></p></div></div>`}
    <ul class="asked">${s.dispatches.slice(0, 200).map((d) => html`<li class=${d === f.taken ? "taken" : ""}><${Mark} status=${shapes[d.state] || "waiting"} /><span class="cut"><bdi class="mid">${d.participant}</bdi> <span class="q">${d === f.taken ? "taken" : words[d.state] || d.state}</span></span><span class="q num">${d.asked ? took((ms(d.ended) || now.value) - ms(d.asked)) : ""}</span>
    ${(d.failure || d.output !== undefined || d.preview) && html`<small class="cut code"><bdi>${d.failure ? d.failure.code + (d.failure.message ? ": " + d.failure.message : "") : d.preview || JSON.stringify(d.output)}</bdi></small>`}</li>`)}</ul></div>`;
}
