// The inbox: what waits for a person's decision, the most urgent first, and the form that decides.
import { html, useEffect, useRef, useState } from "../ui.js";
import { at, go, here } from "../route.js";
import { may, query } from "../api.js";
import { follow } from "../feed.js";
import { Mark } from "../mark.js";
import { left, ms, now, number } from "../time.js";
import { Act, Empty, Fault, Loading, Name, Time, useGet, parsed, useTitle } from "../parts.js";
import { Tree } from "../tree.js";

export function Decisions({ parts }) {
  useTitle("Decisions");
  const [turn, setTurn] = useState(0);
  const list = useGet("/v1/decisions?limit=200", turn);
  const timer = useRef(0);
  useEffect(() => {
    const unfollow = follow("all", () => { // also when the feed begins anew: what has changed before is in no frame
      if (timer.current) return;
      timer.current = setTimeout(() => { timer.current = 0; setTurn((n) => n + 1); }, 500);
    });
    return () => { clearTimeout(timer.current); unfollow(); };
  }, []);
  const id = parts[1];
  const items = (list.value?.items || []).toSorted((a, b) => (ms(a.until) || Infinity) - (ms(b.until) || Infinity) || ms(a.since) - ms(b.since));
  const chosen = items.find((d) => d.id === id) || (id ? null : items[0]);
  return html`<main class=${"view inbox" + (id ? " one" : "")} id="main" tabindex="-1"><section class="asks" aria-label="Open decisions"><div class="tools"><h1>Decisions</h1>${list.value && html`<span class="chip">${number(items.length)}${list.value.next ? "+" : ""} open</span>`}</div>
    ${list.problem && !list.value ? html`<${Fault} problem=${list.problem} again=${list.again} />` : !list.value ? html`<${Loading} />` : groups(items).map(([name, all]) => html`<h2>${name}<span>${number(all.length)}</span></h2>${all.map((d) => html`<${Ask} key=${d.id} d=${d} current=${d === chosen} />`)}`)}</section>
    ${chosen ? html`<${Detail} key=${chosen.id} d=${chosen} again=${() => setTurn((n) => n + 1)} />` : list.value && html`<section class="decide">${id ? html`<${Empty} title="This is decided">Somebody was faster, or the time was over. <a href="/decisions">What is open</a><//>` : html`<${Empty} title="Nobody is asked for anything">When a step waits for a person's decision, it is here, the most urgent first.<//>`}</section>`}</main>`;
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

function Detail({ d, again }) {
  const [decision, setDecision] = useState("fulfilled");
  const [reason, setReason] = useState("");
  const [text, setText] = useState("");
  const [payload, wrong] = parsed(text);
  const [problem, setProblem] = useState(null);
  const refused = (e) => {
    if (e?.code === "changed") again();
    setProblem(e && { ...e, message: e.message, seen: d.seq });
  };
  const yes = decision === "fulfilled";
  const facts = d.output && typeof d.output === "object" && !Array.isArray(d.output) ? Object.entries(d.output).filter(([, v]) => v === null || typeof v !== "object").slice(0, 3) : [];
  return html`<section class="decide"><div><div class="crumb q"><a href="/decisions" class="only-n">‹ All</a><a href=${at("runs", d.run) + query({ step: d.step })}><${Name} text=${d.run} max=${36} /></a><span>step <bdi>${d.step.slice(0, 100)}</bdi></span><span>asked <${Time} at=${d.since} /></span></div>
    <h2>Is <bdi>${d.step.slice(0, 200)}</bdi> done as meant?</h2></div>
    ${facts.length > 1 && html`<div class="sum3">${facts.map(([k, v]) => html`<div><b class="cut"><bdi>${typeof v === "number" ? number(v) : String(v).slice(0, 80)}</bdi></b><span class="q"><bdi>${k.slice(0, 60)}</bdi></span></div>`)}</div>`}
    ${may("operator") ? html`<div class="form"><span class="lb" id="dec-l">Decision</span><div class="ctl"><div class="choose" role="radiogroup" aria-labelledby="dec-l"><label><input type="radio" name="dec" checked=${yes} onChange=${() => setDecision("fulfilled")} />Approve <span class="q small">fulfilled</span></label><label><input type="radio" name="dec" checked=${!yes} onChange=${() => setDecision("not_fulfilled")} />Refuse <span class="q small">not_fulfilled</span></label></div></div>
    <label for="dec-r">Reason</label><div class="ctl"><textarea id="dec-r" maxlength="500" value=${reason} onInput=${(e) => setReason(e.target.value)} /><div class="hint">Kept in the journal with your name.</div></div>
    <label for="dec-p">Payload</label><div class="ctl"><textarea id="dec-p" class="code" spellcheck="false" aria-invalid=${wrong ? "true" : undefined} aria-describedby="dec-ph" value=${text} onInput=${(e) => setText(e.target.value)} /><div id="dec-ph" class=${"hint" + (wrong ? " bad" : "")} role="status">${wrong || "JSON, if something is to be kept with the decision."}</div></div></div>
    ${problem && html`<${Fault} problem=${problem} />${problem.code === "changed" && html`<a href=${at("runs", d.run) + query({ tab: "events", from: String(problem.seen + 1) })}>What has happened since</a>`}`}<div class="acts"><${Act} class="pri" path=${"/v1/decisions/" + d.id} body=${() => ({ decision, reason, ...(text.trim() && { payload }) })} match=${d.seq} disabled=${wrong || problem?.code === "changed" && problem.seen === d.seq} onProblem=${refused} onDone=${() => { again(); go("/decisions"); }}>${yes ? "Approve" : "Refuse"}<//><a class="btn" href=${at("runs", d.run) + query({ step: d.step })}>See it in the graph</a></div>` : html`<p class="q">Your role may look, and not decide.</p>`}
    ${d.until && html`<p class="small q">${left(ms(d.until))}; without a decision by then, the timeout of the step applies.</p>`}<div class="note">If somebody is faster, you see their decision and yours is not applied.</div></section>
    <aside class="side"><div class="sec"><h3>Then</h3><p class="small">${yes ? "The step counts as fulfilled, and what follows it starts at once." : "The step counts as not fulfilled; the workflow says what that means: it fails, pauses, goes on or asks again."}</p></div>
    <div class="sec"><h3>What was done</h3>${d.output !== undefined ? html`<${Tree} value=${d.output} open=${3} />` : d.preview ? html`<div class="json cutlines"><bdi>${d.preview}…</bdi></div>` : html`<p class="q small">The step has no output.</p>`}</div>
    ${Object.keys(d.labels || {}).length > 0 && html`<div class="sec"><h3>Labels</h3><dl class="kv small">${Object.entries(d.labels).slice(0, 20).map(([k, v]) => html`<dt><bdi>${k}</bdi></dt><dd class="cut"><bdi>${v}</bdi></dd>`)}</dl></div>`}</aside>`;
}
