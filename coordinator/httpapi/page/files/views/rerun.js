// Run again: shows the steps that will run, that may run, and that are kept, before the act. The same computation then carries it out.
import { html, useEffect, useState } from "../ui.js";
import { at, go } from "../route.js";
import { of, post } from "../api.js";
import { number } from "../time.js";
import { Act, Dialog, Fault, Loading, Name, parsed } from "../parts.js";

export function Rerun({ run, step, close }) {
  const [mode, setMode] = useState(step ? "from" : run.failure || run.status === "failed" ? "failed" : "changed");
  const [input, setInput] = useState("");
  const [plan, setPlan] = useState(null);
  const [problem, setProblem] = useState(null);
  const [changed, wrong] = parsed(input);
  const body = { ...{ from: { from: step }, only: { only: step }, failed: { failed: true }, changed: { changed: true } }[mode], ...(input.trim() && !wrong ? { input: changed } : {}) };
  const key = JSON.stringify(body);
  useEffect(() => {
    const stop = new AbortController();
    setProblem(null);
    post(of(run.run, "rerun") + "?dry=true", body, {}, stop.signal).then((p) => setPlan({ ...p, seen: run.events }), (e) => { if (!stop.signal.aborted) { setPlan(null); setProblem(e); } });
    return () => stop.abort();
  }, [key, run.events]);
  const modes = [step && ["from", "This step and all that follows"], step && ["only", "Only this step"], ["failed", "Failed steps"], ["changed", "Steps with another operation or input"]].filter(Boolean);
  const kind = (does) => plan?.items.filter((s) => s.does === does) || [];
  const risky = kind("will").filter((s) => s.non_idempotent);
  return html`<${Dialog} title=${step ? "Run again from here" : "Run again"} onClose=${close} wide><fieldset class="modes"><legend class="vh">What runs again</legend>${modes.map(([m, text]) => html`<label key=${m}><input type="radio" name="mode" checked=${mode === m} onChange=${() => setMode(m)} />${text}</label>`)}</fieldset>
    <details><summary class="q small">Another input</summary><label class="stack">Input <span class="qq">JSON; empty: the input of the old run</span><textarea class="code" rows="3" spellcheck="false" value=${input} onInput=${(e) => setInput(e.target.value)} /></label>${wrong && html`<p class="hint bad">${wrong}</p>`}</details>
    ${problem ? html`<${Fault} problem=${problem} />` : !plan ? html`<${Loading} rows=${3} />` : html`<div class="plan" role="status"><${Part} list=${kind("will")} word="will run" /><${Part} list=${kind("may")} word="may run, if their input changes" /><${Part} list=${kind("kept")} word="kept, with their results" /></div>`}
    ${risky.length > 0 && html`<div class="note bad">Not idempotent, and asked again: <b>${risky.slice(0, 5).map((s) => s.step).join(", ")}</b></div>`}
    <p class="small q">A new run begins; this one stays as it is.${!step && html` <a href=${at("start", run.workflow)}>Start <bdi>${run.workflow}</bdi> anew</a> to run all of it.`}</p>
    <footer><button class="btn" type="button" onClick=${close}>Not now</button><${Act} class="pri" disabled=${!plan || wrong} path=${of(run.run, "rerun")} body=${body} match=${plan?.seen} onProblem=${setProblem} onDone=${(v) => { close(); go(at("runs", v.run)); }}>Run ${number(kind("will").length)} again<//></footer><//>`;
}

function Part({ list, word }) {
  const [all, setAll] = useState(false);
  return html`<div><b>${number(list.length)}</b> ${word}${list.length > 0 && html`<p class="q small">${list.slice(0, all ? 500 : 8).map((s, i) => html`${i > 0 && ", "}<${Name} text=${s.step} max=${32} />`)}${list.length > 8 && !all && html` <button class="link" type="button" onClick=${() => setAll(true)}>and ${number(list.length - 8)} more</button>`}</p>`}</div>`;
}
