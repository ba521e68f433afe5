// The inbox: the decisions that wait for a person, the most urgent first, and the form that decides.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../ui.js";
import { at, go } from "../route.js";
import { may, of, query } from "../api.js";
import { follow } from "../feed.js";
import { Mark, wordOf } from "../mark.js";
import { left, ms, now, number } from "../time.js";
import { Act, Empty, Fault, focus, Loading, Name, narrow, Time, useGet, parsed, useTitle } from "../parts.js";
import { Tree } from "../tree.js";
import { useTyped } from "../typed.js";

export function Decisions({ parts }) {
  useTitle("Decisions");
  const [turn, setTurn] = useState(0);
  const list = useGet("/v1/decisions?limit=200", turn);
  const timer = useRef(0);
  useEffect(() => {
    const unfollow = follow("all", () => { // also when the feed begins anew: earlier changes are in no frame
      if (timer.current) return;
      timer.current = setTimeout(() => { timer.current = 0; setTurn((n) => n + 1); }, 500);
    });
    return () => { clearTimeout(timer.current); unfollow(); };
  }, []);
  const items = (list.value?.items || []).toSorted((a, b) => (ms(a.until) || Infinity) - (ms(b.until) || Infinity) || ms(a.since) - ms(b.since));
  const id = parts[1] || (narrow.value ? "" : items[0]?.id || ""); // a narrow page has the list or one of it
  useLayoutEffect(() => { // the shown decision stays, even if another becomes the first
    if (id && !parts[1]) go(at("decisions", id), true);
  }, [id, parts[1]]);
  const listed = items.find((d) => d.id === id);
  const other = useGet(id && !listed && list.value?.next ? at("v1", "decisions", id) : "", turn); // the list has not all of them
  const open = listed || (other.value?.id === id ? other.value : null);
  const [seen, setSeen] = useState(null); // as it was while it was open
  const [mine, setMine] = useState(null); // the person's decision about it
  useEffect(() => { if (open) setSeen(open); }, [open]);
  const d = open || (seen?.id === id ? seen : null);
  const known = list.value && (!list.value.next || other.problem?.status >= 400);
  const next = items.find((i) => i.id !== id);
  const again = () => setTurn((n) => n + 1);
  return html`<main class=${"view inbox" + (id ? " one" : "")} id="main" tabindex="-1">${id && html`<h1 class="vh only-n">Decision</h1>`}<section class="asks" aria-label="Open decisions"><div class="tools"><h1>Decisions</h1>${list.value && html`<span class="chip">${number(items.length)}${list.value.next ? "+" : ""} open</span>`}</div>
    ${list.problem && !list.value ? html`<${Fault} problem=${list.problem} again=${list.again} />` : !list.value ? html`<${Loading} />` : groups(items).map(([name, all]) => html`<h2>${name}<span>${number(all.length)}</span></h2>${all.map((i) => html`<${Ask} key=${i.id} d=${i} current=${i.id === id} />`)}`)}</section>
    ${mine?.d.id === id ? html`<${Decided} key=${"mine" + id} ...${{ ...mine, next }} />`
      : d ? html`<${Detail} key=${id} ...${{ d, taken: !open && known, next, again, onDone: (how) => { setMine({ d, ...how }); again(); } }} />`
      : known && html`<section class="decide">${id ? html`<${All} /><h2>This is not open</h2><${Taken} ...${{ id, next }} />` : html`<${Empty} title="No decisions are open">When a step waits for a person's decision, it is here, the most urgent first.<//>`}</section>`}</main>`;
}

const All = () => html`<a href="/decisions" class="only-n">‹ All</a>`;

// Next leads to the next decision, when the person asks for it.
const Next = ({ next }) => html`<div class="acts">${next ? html`<a class="btn" href=${at("decisions", next.id)}>Next: <${Name} text=${next.run} max=${24} /></a>` : html`<span class="q">Nothing else is open.</span>`}</div>`;

// Decided shows the person's decision. It has the focus, so that a key pressed twice decides nothing else.
function Decided({ d, decision, reason, next }) {
  return html`<section class="decide"><${All} /><h2 ref=${focus} tabindex="-1">${wordsOf[decision]} <bdi>${d.run.slice(0, 200)}</bdi></h2>
    <p role="status">Step <bdi>${d.step.slice(0, 200)}</bdi> is ${decision === "fulfilled" ? "done as meant" : "not done as meant"}${reason && html`: <bdi>${reason}</bdi>`}. <a href=${at("runs", d.run) + query({ step: d.step })}>See it in the graph</a></p><${Next} next=${next} /></section>`;
}

const wordsOf = { fulfilled: "Approved", not_fulfilled: "Refused" };

// namedBy returns the parts of a decision's id: run, step and attempt.
function namedBy(id) {
  try {
    const [run, step, attempt] = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(id.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0))));
    return { run, step, attempt };
  } catch {
    return {};
  }
}

// Taken shows how a decision was taken, by the events of the run; without such an event, the status of the run.
export function Taken({ id, next, run, step, attempt }) {
  if (id) ({ run, step, attempt } = namedBy(id));
  const list = useGet(run && step ? of(run, "events") + query({ step, limit: "1000" }) : "");
  let now = 0, found = null;
  for (const e of list.value?.items || []) {
    now = Math.max(now, e.attempt || 0);
    if (now === attempt && /^decision.(received|overridden)$/.test(e.type) && e.state !== "pending") found = e;
  }
  const why = useGet(list.value && !found ? of(run, "explain") : "");
  if (!run || !step) return html`<${Empty} title="There is no such decision">The address may have been cut. <a href="/decisions">What is open</a><//>`;
  const problem = list.problem || why.problem, e = found || (/^(running|waiting|paused)$/.test(why.value?.status) ? null : why.value?.reasons?.find((r) => r.decided?.actor)?.decided || why.value?.decided);
  if (problem) return html`<${Fault} problem=${problem} again=${list.again} />`;
  if (!found && !why.value) return html`<${Loading} rows=${2} />`;
  return html`<div class="note" role="status"><${Mark} status=${found?.state === "fulfilled" ? "completed" : found ? "failed" : "aborted"} /><div><b>${found ? (wordsOf[found.state] || "Ended") + (found.actor ? "" : " without a person") : "This is asked no more"}${found?.actor && html` by <bdi>${found.actor}</bdi>`}</b>
    ${" · "}<bdi>${run.slice(0, 200)}</bdi>, step <bdi>${step.slice(0, 200)}</bdi>${e && html`, <${Time} at=${e.at} />`}${!found && html`: the run is ${wordOf(why.value.status)}${e?.actor && html`, by <bdi>${e.actor}</bdi>`}`}.${e?.reason && html` Reason: <bdi>${e.reason}</bdi>.`}${e?.failure && html` <bdi>${e.failure.message || e.failure.code}</bdi>.`}
    ${" "}<a href=${at("runs", run) + query(e ? { tab: "events", from: String(Math.max(1, e.seq - 5)) } : { step })}>See it in the run</a></div></div>${id && html`<${Next} next=${next} />`}`;
}

function groups(items) {
  const soon = (d) => d.until && ms(d.until) - now.value < 3600_000, today = (d) => d.until && ms(d.until) - now.value < 86400_000;
  return [["Overdue and within the hour", items.filter(soon)], ["Within a day", items.filter((d) => !soon(d) && today(d))], ["Later", items.filter((d) => !today(d))]].filter(([, all]) => all.length);
}

function Ask({ d, current }) {
  const until = ms(d.until), soon = until && until - now.value < 3600_000;
  return html`<a class="ask" data-row href=${at("decisions", d.id)} aria-current=${current ? "true" : undefined}><${Mark} status="person" /><span class="mid cut"><bdi>${d.step.slice(0, 200)}</bdi></span>
    <span class=${"due" + (until && until < now.value ? " over" : soon ? " soon" : "")}>${until ? left(until).replace(" left", "") : "no limit"}</span><span class="sub cut"><bdi>${d.run.slice(0, 200)}</bdi> · <bdi>${d.workflow.slice(0, 100)}</bdi></span></a>`;
}

// Detail is the form that decides. When another person has decided, the typed text can still be read.
function Detail({ d, taken, next, again, onDone }) {
  const [typed, keep, forget] = useTyped("decision " + d.id, { decision: "fulfilled", reason: "", text: "" }), { decision, reason, text } = typed;
  const [payload, wrong] = parsed(text);
  const [problem, setProblem] = useState(null);
  const refused = (e) => {
    if (e?.code === "changed" || e?.code === "not_possible") again();
    setProblem(e && { ...e, message: e.message, seen: d.seq });
  };
  const yes = decision === "fulfilled", written = reason || text;
  const facts = d.output && typeof d.output === "object" && !Array.isArray(d.output) ? Object.entries(d.output).filter(([, v]) => v === null || typeof v !== "object").slice(0, 3) : [];
  return html`<section class="decide"><div><div class="crumb q"><a href="/decisions" class="only-n">‹ All</a><a href=${at("runs", d.run) + query({ step: d.step })}><${Name} text=${d.run} max=${36} /></a><span>step <bdi>${d.step.slice(0, 100)}</bdi></span><span>asked <${Time} at=${d.since} /></span></div>
    <h2>Is <bdi>${d.step.slice(0, 200)}</bdi> done as meant?</h2></div>
    ${taken && html`<${Taken} ...${{ id: d.id, next }} />`}
    ${facts.length > 1 && html`<div class="sum3">${facts.map(([k, v]) => html`<div><b class="cut"><bdi>${typeof v === "number" ? number(v) : String(v).slice(0, 80)}</bdi></b><span class="q"><bdi>${k.slice(0, 60)}</bdi></span></div>`)}</div>`}
    ${taken && written && html`<p class="q">Yours was not applied. You had written:</p>`}
    ${taken && !written ? "" : may("operator") ? html`<div class="form"><span class="lb" id="dec-l">Decision</span><div class="ctl"><div class="choose" role="radiogroup" aria-labelledby="dec-l"><label><input type="radio" name="dec" disabled=${taken} checked=${yes} onChange=${() => keep({ ...typed, decision: "fulfilled" })} />Approve <span class="q small">fulfilled</span></label><label><input type="radio" name="dec" disabled=${taken} checked=${!yes} onChange=${() => keep({ ...typed, decision: "not_fulfilled" })} />Refuse <span class="q small">not_fulfilled</span></label></div></div>
    <label for="dec-r">Reason</label><div class="ctl"><textarea id="dec-r" maxlength="500" readonly=${taken} value=${reason} onInput=${(e) => keep({ ...typed, reason: e.target.value })} /><div class="hint">Kept in the journal with your name.</div></div>
    <label for="dec-p">Payload</label><div class="ctl"><textarea id="dec-p" class="code" readonly=${taken} spellcheck="false" aria-invalid=${wrong ? "true" : undefined} aria-describedby="dec-ph" value=${text} onInput=${(e) => keep({ ...typed, text: e.target.value })} /><div id="dec-ph" class=${"hint" + (wrong ? " bad" : "")} role="status">${wrong || "JSON to be kept with the decision; may be empty."}</div></div></div>
    ${problem && !taken && html`<${Fault} problem=${problem} />${problem.code === "changed" && html`<a href=${at("runs", d.run) + query({ tab: "events", from: String(problem.seen + 1) })}>What has happened since</a>`}`}${!taken && html`<div class="acts"><${Act} class="pri" path=${"/v1/decisions/" + d.id} body=${() => ({ decision, reason, ...(text.trim() && { payload }) })} match=${d.seq} disabled=${wrong || problem?.code === "changed" && problem.seen === d.seq} onProblem=${refused} onDone=${() => { forget(); onDone({ decision, reason }); }}>${yes ? "Approve" : "Refuse"}<//><a class="btn" href=${at("runs", d.run) + query({ step: d.step })}>See it in the graph</a></div>`}` : html`<p class="q">Your role may look, and not decide.</p>`}
    ${!taken && d.until && html`<p class="small q">${left(ms(d.until))}; without a decision by then, the timeout of the step applies.</p>`}${!taken && html`<div class="note">If another decision comes first, you see it, and yours is not applied.</div>`}</section>
    <aside class="side">${!taken && html`<div class="sec"><h3>Then</h3><p class="small">${yes ? "The step counts as fulfilled, and what follows it starts at once." : "The step counts as not fulfilled: as the workflow says, it fails, pauses, goes on or asks again."}</p></div>`}
    <div class="sec"><h3>What was done</h3>${d.output !== undefined ? html`<${Tree} value=${d.output} open=${3} />` : d.preview ? html`<div class="json cutlines"><bdi>${d.preview}…</bdi></div>` : html`<p class="q small">The step has no output.</p>`}</div>
    ${Object.keys(d.labels || {}).length > 0 && html`<div class="sec"><h3>Labels</h3><dl class="kv small">${Object.entries(d.labels).slice(0, 20).map(([k, v]) => html`<dt><bdi>${k}</bdi></dt><dd class="cut"><bdi>${v}</bdi></dd>`)}</dl></div>`}</aside>`;
}
