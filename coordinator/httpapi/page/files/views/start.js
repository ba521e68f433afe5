// The form that starts a run, made of the schema of the workflow's input.
import { html, useState } from "../ui.js";
import { at, go } from "../route.js";
import { may } from "../api.js";
import { number } from "../time.js";
import { Act, Fault, Loading, Name, parsed, useGet, useTitle } from "../parts.js";

export function Start({ parts }) {
  const name = parts[1] || "";
  useTitle("Start " + name.slice(0, 100));
  const { value, problem, again } = useGet("/v1/workflows/" + encodeURIComponent(name));
  return html`<main class="view" id="main" tabindex="-1"><div class="page narrow"><div class="head"><h1>Start <${Name} text=${name} max=${40} /></h1>${value && html`<span class="q">version ${number(value.version.number)} <span class="code small">${value.version.hash.slice(0, 6)}</span></span>`}</div>
    ${problem ? html`<${Fault} problem=${problem} again=${again} />` : !value ? html`<div class="sheet"><${Loading} /></div>` : !may("operator") ? html`<p class="q">Your role may look, and not start runs.</p>` : html`<${Form} ...${{ name, schema: value.input }} />`}</div></main>`;
}

const simple = (s) => s && (s.enum || ["string", "number", "integer", "boolean"].includes(s.type));

function Form({ name, schema }) {
  const fields = schema?.type === "object" && schema.properties ? Object.entries(schema.properties).sort(([a], [b]) => order(schema, a) - order(schema, b)) : null;
  const [values, setValues] = useState(() => Object.fromEntries((fields || []).filter(([, s]) => s.default !== undefined).map(([k, s]) => [k, simple(s) && !s.enum ? String(s.default) : JSON.stringify(s.default)])));
  const [whole, setWhole] = useState("");
  const [id, setID] = useState("");
  const [labels, setLabels] = useState("");
  const [problem, setProblem] = useState(null);
  const faults = {};
  const input = () => {
    if (!fields) return parsed(whole)[0];
    const out = {};
    for (const [key, s] of fields) {
      const [v, wrong] = valueOf(s, values[key]);
      if (wrong) faults[key] = wrong;
      else if (v !== undefined) out[key] = v;
    }
    return out;
  };
  const made = input();
  if (!fields && parsed(whole)[1]) faults[""] = parsed(whole)[1];
  const missing = (schema?.required || []).filter((k) => fields && made[k] === undefined);
  const body = () => ({ workflow: name, input: made, ...(id ? { id } : {}), ...(labels.trim() ? { labels: Object.fromEntries(labels.trim().split(/\s+/).map((l) => l.split(/=(.*)/s).slice(0, 2)).map(([k, v]) => [k, v ?? ""])) } : {}) });
  return html`<form class="sheet" onSubmit=${(e) => e.preventDefault()}><div class="sec form start">
    ${fields ? fields.map(([key, s]) => html`<${Field} key=${key} ...${{ name: key, schema: s, required: schema.required?.includes(key), value: values[key], fault: faults[key], problem: placeOf(problem, key), set: (v) => setValues({ ...values, [key]: v }) }} />`)
      : html`<label for="whole">Input</label><div class="ctl"><textarea id="whole" class="code" rows="8" spellcheck="false" value=${whole} onInput=${(e) => setWhole(e.target.value)} /><div class=${"hint" + (faults[""] ? " bad" : "")}>${faults[""] || (schema ? "JSON that the schema of the input allows" : "JSON; empty is null. The workflow does not say what it wants.")}</div></div>`}</div>
    <div class="sec form start"><label for="run-id">Id</label><div class="ctl"><input id="run-id" class="code" autocomplete="off" spellcheck="false" value=${id} onInput=${(e) => setID(e.target.value)} /><div class="hint">Started twice with one id is started once. Empty: a random one.</div></div>
    <label for="run-labels">Labels</label><div class="ctl"><input id="run-labels" class="code" autocomplete="off" spellcheck="false" placeholder="team=payments zone=eu" value=${labels} onInput=${(e) => setLabels(e.target.value)} /></div></div>
    <div class="sec acts-row">${problem && html`<${Fault} problem=${problem} />`}<${Act} class="pri" path="/v1/runs" body=${body} disabled=${Object.keys(faults).length > 0 || missing.length > 0} onProblem=${setProblem} onDone=${(run) => go(at("runs", run.run))}>Start the run<//>
    ${missing.length > 0 && html`<span class="q small">Still needed: ${missing.join(", ")}</span>`}</div></form>`;
}

const order = (schema, key) => { const i = (schema.required || []).indexOf(key); return i < 0 ? 1000 : i; };
const placeOf = (problem, key) => problem?.errors?.find((e) => e.pointer.includes("/" + key))?.detail || (problem?.message.includes("/" + key + ":") ? problem.message.split("/" + key + ": ")[1].split(";")[0] : "");

// valueOf returns what a person has written as the schema wants it; undefined: nothing.
function valueOf(s, text) {
  if (text === undefined || (text === "" && s.type !== "string")) return [undefined, ""];
  if (s.enum) return [JSON.parse(text), ""];
  switch (s.type) {
    case "boolean": return [text === "true", ""];
    case "integer": return /^-?\d+$/.test(text.trim()) ? [Number(text), ""] : [undefined, "This is no whole number."];
    case "number": return text.trim() && isFinite(text) ? [Number(text), ""] : [undefined, "This is no number."];
    case "string": return [text, ""];
  }
  const [v, wrong] = parsed(text);
  return [v, wrong];
}

function Field({ name, schema: s, required, value, fault, problem, set }) {
  const id = "f-" + name;
  const hint = fault || problem || s.description || (s.minimum !== undefined || s.maximum !== undefined ? `from ${s.minimum ?? "…"} to ${s.maximum ?? "…"}` : s.pattern ? "like " + s.pattern : simple(s) ? "" : "JSON: " + (s.type || "anything"));
  const props = { id, value: value ?? "", "aria-describedby": id + "-hint", onInput: (e) => set(e.target.value) };
  let control;
  if (s.enum) control = html`<select ...${props}><option value=""></option>${s.enum.map((v) => html`<option value=${JSON.stringify(v)}>${String(v)}</option>`)}</select>`;
  else if (s.type === "boolean") control = html`<select ...${props}><option value=""></option><option value="true">true</option><option value="false">false</option></select>`;
  else if (s.type === "integer" || s.type === "number") control = html`<input ...${props} inputmode="decimal" class="figure" />`;
  else if (s.type === "string") control = html`<input ...${props} maxlength=${s.maxLength} />`;
  else control = html`<textarea ...${props} class="code" rows=${s.type === "array" || s.type === "object" ? 3 : 2} spellcheck="false" placeholder=${s.type === "array" ? "[]" : s.type === "object" ? "{}" : ""} />`;
  return html`<label for=${id}><bdi>${name.slice(0, 200)}</bdi>${required && html`<span class="qq small"> needed</span>`}</label><div class="ctl">${control}<div id=${id + "-hint"} class=${"hint" + (fault || problem ? " bad" : "")}><bdi>${hint}</bdi></div></div>`;
}
