// Publish: the text, checked and drawn while it is written. Nothing is published until the person says so.
import { html, useEffect, useRef, useState } from "../ui.js";
import { at, go, here } from "../route.js";
import { get, may, post } from "../api.js";
import { many, number } from "../time.js";
import { Mark } from "../mark.js";
import { Act, Fault, Loading, useTitle } from "../parts.js";
import { useTyped } from "../typed.js";
import { Drawn } from "./draft.js";

const pause = 250; // ms of silence after which a text is checked
const first = "kind: Workflow\nname: hello\noperations:\n  greet: {value: Hello}\nsteps:\n  - {operation: greet}\noutput: \"{{ steps.greet.output }}\"\n";

export function Publish() {
  const from = here.value.query.get("from") || "";
  return html`<${Writing} key=${from} from=${from} />`;
}

function Writing({ from }) {
  useTitle("Publish");
  const [base, setBase] = useState(from ? null : first); // the text before the person types
  const [typed, keep, forget] = useTyped("publish " + from, null);
  const [back, setBack] = useState(typed !== null); // the text is from an earlier visit, and unchanged since
  const text = typed ?? base;
  const setText = (v) => {
    setBack(false);
    keep(v);
  };
  const drop = () => {
    setText(null);
    forget();
  };
  const [check, setCheck] = useState(null);
  const [effect, setEffect] = useState(null);
  const [problem, setProblem] = useState(null);
  const [busy, setBusy] = useState(false);
  const area = useRef(null);
  useEffect(() => {
    if (from) get("/v1/workflows/" + encodeURIComponent(from)).then((d) => setBase(JSON.stringify(d.document, null, 2) + "\n"), setProblem);
  }, []);
  useEffect(() => {
    if (text === null || !may("author")) return;
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      setBusy(true);
      try {
        const found = await post("/v1/check", { document: text }, {}, stop.signal);
        setCheck(found);
        setProblem(null);
        setEffect(found.faults.length ? null : await post("/v1/workflows?dry=true", { document: text }, {}, stop.signal));
      } catch (e) {
        if (!stop.signal.aborted) { setProblem(e); setEffect(null); }
      }
      if (!stop.signal.aborted) setBusy(false);
    }, pause);
    return () => { clearTimeout(timer); stop.abort(); };
  }, [text]);
  if (!may("author")) return html`<main class="view" id="main" tabindex="-1"><div class="page"><p class="q">Your role may look, and not publish.</p></div></main>`;
  const faults = check?.faults || [];
  const jump = (line, column) => {
    const lines = text.split("\n"), start = lines.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0) + Math.max(0, (column || 1) - 1);
    area.current.focus();
    area.current.setSelectionRange(start, start);
    area.current.parentElement.scrollTop = (line - 5) * 20;
  };
  return html`<main class="view publish" id="main" tabindex="-1"><section class="runhead"><div class="line"><h1>Publish ${check?.name ? html`<bdi>${check.name.slice(0, 60)}</bdi>` : "a workflow"}</h1>
    ${faults.length > 0 ? html`<span class="chip tint s-failed"><${Mark} status="failed" />${many(faults.length, "error")}${faults[0].line ? ", line " + faults[0].line : ""}</span>` : effect && html`<span class="chip tint s-completed"><${Mark} status="completed" />${effect.unchanged ? "is the newest already" : "can be published"}</span>`}
    <div class="end"><${Act} role="author" class="pri" disabled=${busy || !check || faults.length > 0 || effect?.unchanged} path="/v1/workflows" body=${() => ({ document: text })} onProblem=${setProblem} onDone=${(v) => { forget(); go(at("workflows", v.published?.name || check.name)); }}>Publish<//></div></div><p class="why">${back ? html`What you have written before is here again; it is not published. <button type="button" class="link" onClick=${drop}>Drop it</button>` : "The text is checked as you write; nothing is published yet."}</p></section>
    <div class="pub"><div class="editor">${text === null ? html`<${Loading} rows=${12} />` : html`<${Editor} ...${{ text, setText, faults, area }} />`}</div>
    <div class="drawn"><div class="draw-box">${check?.drawing && html`<${Drawn} key=${check.drawing.keys.join("|").slice(0, 2000) + check.drawing.points.length} drawing=${check.drawing} />`}</div>
    ${effect?.effect && html`<${Effect} diff=${effect.effect} name=${effect.name} />`}
    <section class="sec" aria-live="polite"><h2>Check<span class="end">${busy ? "checking" : check ? [many(faults.length, "error"), many(check.warnings.length, "remark"), ...(check.runs?.findings?.length ? [many(check.runs.findings.length, "finding")] : [])].join(", ") : ""}</span></h2>${problem && html`<${Fault} problem=${problem} />`}
      <ul class="found-l">${[...faults.map((f) => [f, "failed"]), ...(check?.warnings || []).map((f) => [f, "waiting"])].slice(0, 50).map(([f, s]) => html`<li><${Mark} status=${s} /><span>${f.line && html`<button type="button" class="link" onClick=${() => jump(f.line, f.column)}>line ${f.line}</button> `}<bdi>${f.text}</bdi>${f.suggestion && html` <button type="button" class="btn s" onClick=${() => setText(replaced(text, f))}>Write ${f.suggestion}</button>`}</span></li>`)}
      ${check?.runs && html`<li><${Mark} status=${check.runs.findings?.length ? "failed" : "completed"} /><span>${many(check.runs.states, "state")} of runs visited${check.runs.complete ? ", which are all" : ", and there are more"}: runs end ${check.runs.ends?.join(", ") || "nowhere"}.</span></li>`}
      ${(check?.runs?.findings || []).slice(0, 10).map((f) => html`<li><${Mark} status="failed" /><span><bdi>${f.text}</bdi></span></li>`)}</ul></section></div></div></main>`;
}

// replaced writes the suggestion in place of the word at a fault.
function replaced(text, f) {
  const lines = text.split("\n"), line = lines[f.line - 1] || "", quoted = /"([^"]+)"/.exec(f.text)?.[1];
  if (!quoted) return text;
  const from = line.indexOf(quoted, Math.max(0, (f.column || 1) - 1)), i = from >= 0 ? from : line.indexOf(quoted);
  if (i < 0) return text;
  lines[f.line - 1] = line.slice(0, i) + f.suggestion + line.slice(i + quoted.length);
  return lines.join("\n");
}

function Editor({ text, setText, faults, area }) {
  const lines = text.split("\n"), bad = new Map(faults.map((f) => [f.line, f.text]));
  const tab = (e) => {
    if (e.key !== "Tab" || e.shiftKey) return;
    e.preventDefault();
    e.target.setRangeText("  ", e.target.selectionStart, e.target.selectionEnd, "end");
    setText(e.target.value);
  };
  return html`<div class="edit"><ol class="gutter" aria-hidden="true">${lines.slice(0, 20000).map((_, i) => html`<li class=${bad.has(i + 1) ? "bad" : ""}>${i + 1}</li>`)}</ol>
    <textarea ref=${area} aria-label="Document" aria-describedby="edit-help" spellcheck="false" autocapitalize="off" autocomplete="off" wrap="off" rows=${Math.max(20, lines.length + 1)} value=${text} onInput=${(e) => setText(e.target.value)} onKeyDown=${tab} /><span id="edit-help" class="vh">Tab writes two spaces; Shift Tab leaves the text.</span></div>`;
}

function Effect({ diff, name }) {
  const runs = diff.runs || [], same = runs.filter((r) => r.same).length, other = runs.length - same;
  const rows = [["+" + number(diff.added?.length || 0), "added", diff.added], ["−" + number(diff.removed?.length || 0), "removed", diff.removed], ["~" + number(diff.changed?.length || 0), "changed", diff.changed?.map((s) => s.step + ": " + s.parts.map((p) => p.part).join(", "))], ["~" + number(diff.children?.length || 0), "child workflows changed", diff.children?.map((c) => c.path + " (" + c.document + ")")]].filter(([, , list]) => list?.length);
  return html`<section class="sec"><h2>Against <span class="code">${diff.old.slice(0, 6)}</span> and its open runs<span class="end">${many(runs.length + (diff.left || 0), "open run")}</span></h2><div class="pre">${rows.map(([n, word, list]) => html`<b>${n}</b><span class="cut">${word}: <bdi>${list.slice(0, 6).join("; ")}${list.length > 6 ? "; …" : ""}</bdi></span>`)}
    ${!rows.length && html`<b>0</b><span>no step changed</span>`}${same > 0 && html`<b>${number(same)}</b><span>${same === 1 ? "open run" : "open runs"} can be moved to it</span>`}${other > 0 && html`<b>${number(other)}</b><span>cannot be moved: ${runs.find((r) => !r.same).because}</span>`}</div></section>`;
}
