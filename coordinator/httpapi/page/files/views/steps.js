// The steps of a run as a list: failed ones and those that ask a person first, then those that move, those that wait, and the rest in the
// order of the workflow.
import { html, useState } from "../ui.js";
import { here, withQuery } from "../route.js";
import { Mark, statuses } from "../mark.js";
import { awaitedOf, left, many, ms, now, number, took } from "../time.js";
import { Empty, Name } from "../parts.js";

const groups = [
  ["Failed and asked for", ["failed", "person"]],
  ["Moving", ["running", "ready"]],
  ["Waiting", ["waiting", "paused"]],
  ["Not begun", ["idle"]],
  ["Over", ["completed", "skipped", "aborted"]],
];
const shown = 200;

export function Steps({ model, run, step }) {
  const find = here.value.query.get("find") || "";
  model.version.value;
  model.details.value;
  if (!model.keys.length) return html`<${Empty} title="No step is known">This run shows none; its events say what has happened.<//>`;
  const of = new Map(groups.map(([, all], i) => all.map((s) => [s, i])).flat());
  const lists = groups.map(() => []);
  model.keys.forEach((key, i) => {
    if (!find || key.includes(find)) lists[of.get(statuses[model.state[i]]) ?? 3].push(i);
  });
  return html`<div class="steps" data-stay>${groups.map(([name], g) => lists[g].length > 0 && html`<${Group} key=${name} ...${{ name, list: lists[g], model, run, step }} />`)}</div>`;
}

function Group({ name, list, model, run, step }) {
  const [limit, setLimit] = useState(shown);
  return html`<section aria-label=${name}><h2>${name} <span class="qq">${number(list.length)}</span></h2>
    ${list.slice(0, limit).map((i) => html`<${Row} key=${model.keys[i]} ...${{ i, model, run, chosen: model.keys[i] === step }} />`)}
    ${list.length > limit && html`<button class="link more" type="button" onClick=${() => setLimit(limit + 1000)}>${number(list.length - limit)} more</button>`}</section>`;
}

function Row({ i, model, run, chosen }) {
  const key = model.keys[i], s = model.steps.get(key), status = statuses[model.state[i]];
  const moved = performance.now() - (model.moved.get(i) || -1e9) < 2000;
  return html`<a class=${"step-row" + (moved ? " moved" : "")} data-row href=${withQuery({ step: key })} aria-current=${chosen ? "true" : undefined}>
    <${Mark} status=${status} /><span class=${"nm d" + Math.min(4, s?.depth || 0)}><${Name} text=${key} max=${48} /></span><span class="note-c cut">${noteOf(s, status, run)}</span><span class="word">${status === "person" ? "asks" : status}</span></a>`;
}

// noteOf describes a step beyond its status.
export function noteOf(s, status, run) {
  if (!s) return "";
  if (s.runs || s.tokens) {
    const parts = s.runs ? [many(s.runs, "run")] : [];
    if (s.live) parts.push(number(s.live) + " moving");
    if (s.tokens) parts.push(many(s.tokens, "token") + " held");
    if (s.items) parts.push(number(s.items_done || 0) + "/" + number(s.items));
    return parts.join(", ");
  }
  const attempts = s.attempts > 1 ? ", attempt " + s.attempts : "";
  if (s.adopted) return s.adopted === "set" ? "set by a person" : "kept from " + s.adopted;
  switch (status) {
    case "failed": return (s.failure?.code || "") + (s.pending ? ", tried again" : attempts);
    case "aborted": return s.failure?.step ? s.failure.step + " failed" : s.failure?.code || "";
    case "skipped": return s.failure?.code || "not taken";
    case "completed": return s.began ? took(ms(s.ended) - ms(s.began)) + attempts : s.branch || "";
    case "running": return (s.items ? number(s.items_done || 0) + "/" + number(s.items) + ", " : "") + took(now.value - ms(s.began)) + attempts;
    case "person": {
      const a = run.awaits?.find((a) => a.step === s.step && a.kind === "person");
      return (a?.who?.join(", ") || "a person") + (a?.until ? ", " + left(ms(a.until)) : "");
    }
    case "waiting": case "ready": {
      const a = run.awaits?.find((a) => a.step === s.step);
      return a ? awaitedOf(a).replace(/^waits( for|:) /, "") + (a.until ? ", " + left(ms(a.until)) : "") : s.message || "";
    }
  }
  return "";
}
