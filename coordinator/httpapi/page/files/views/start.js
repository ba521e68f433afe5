// The form that starts a run, made of the schema of the workflow's input.
import { html, useState } from "../ui.js";
import { at, go } from "../route.js";
import { may } from "../api.js";
import { number } from "../time.js";
import { Act, Fault, Loading, Name, parsed, plain, useGet, useTitle } from "../parts.js";
import { useTyped } from "../typed.js";

export function Start({ parts }) {
  const name = parts[1] || "";
  useTitle("Start " + name.slice(0, 100));
  const { value, problem, again } = useGet("/v1/workflows/" + encodeURIComponent(name));
  return html`<main class="view" id="main" tabindex="-1"><div class="page narrow"><div class="head"><h1>Start <${Name} text=${name} max=${40} /></h1>${value && html`<span class="q">version ${number(value.version.number)} <span class="code small">${value.version.hash.slice(0, 6)}</span></span>`}</div>
    ${problem ? html`<${Fault} problem=${problem} again=${problem.status !== 404 && again} />` : !value ? html`<div class="sheet"><${Loading} /></div>` : !may("operator") ? html`<p class="q">Your role may look, and not start runs.</p>` : html`<${Form} key=${name} ...${{ name, schema: value.input }} />`}</div></main>`;
}

const simple = (s) => s && (s.enum || ["string", "number", "integer", "boolean"].includes(s.type));
const secret = (s) => s.writeOnly === true || s.format === "password";
const shown = (v) => (typeof v === "string" ? v : JSON.stringify(v));

// begin is the initial content of the form: the defaults.
function begin(schema, fields) {
  const whole = !fields && schema?.default !== undefined ? JSON.stringify(schema.default, null, 2) : "";
  const given = (fields || []).map(([k, s]) => [k, s, s.default ?? schema.default?.[k]]).filter(([, , v]) => v !== undefined);
  return { values: Object.fromEntries(given.map(([k, s, v]) => [k, simple(s) && !s.enum ? String(v) : JSON.stringify(v)])), whole, id: "", labels: "" };
}

function Form({ name, schema }) {
  const fields = schema?.type === "object" && schema.properties ? Object.entries(schema.properties).sort(([a], [b]) => order(schema, a) - order(schema, b)) : null;
  const fresh = begin(schema, fields);
  const [typed, keep, forget] = useTyped("start " + name, fresh), { whole, id, labels } = typed, values = { ...fresh.values, ...typed.values };
  const [problem, setProblem] = useState(null);
  const type = (change) => {
    const next = { ...typed, ...change };
    const open = (fields || []).filter(([k, s]) => k in next.values && !secret(s)).map(([k]) => [k, next.values[k]]);
    keep(next, { ...next, values: Object.fromEntries(open) });
  };
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
  return html`<form class="sheet" onSubmit=${(e) => e.preventDefault()}>${(schema?.title || schema?.description) && html`<div class="sec">${schema.title && html`<h2><${Text} of=${schema.title} /></h2>`}${schema.description && html`<p class="q"><${Text} of=${schema.description} /></p>`}</div>`}<div class="sec form start">
    ${fields ? fields.map(([key, s]) => html`<${Field} key=${key} ...${{ name: key, schema: s, required: schema.required?.includes(key), value: values[key], fault: faults[key] || placeOf(problem, key), set: (v) => type({ values: { ...values, [key]: v } }) }} />`)
      : html`<label for="whole">Input</label><div class="ctl"><textarea id="whole" class="code" rows="8" spellcheck="false" value=${whole} onInput=${(e) => type({ whole: e.target.value })} /><div class=${"hint" + (faults[""] ? " bad" : "")}>${faults[""] || (schema ? "JSON that the schema of the input allows" : "JSON; empty is null. The workflow has no input schema.")}</div></div>`}</div>
    <div class="sec form start"><label for="run-id">Id</label><div class="ctl"><input id="run-id" class="code" autocomplete="off" spellcheck="false" value=${id} onInput=${(e) => type({ id: e.target.value })} /><div class="hint">Started twice with one id is started once. Empty: a random one.</div></div>
    <label for="run-labels">Labels</label><div class="ctl"><input id="run-labels" class="code" autocomplete="off" spellcheck="false" placeholder="team=payments zone=eu" value=${labels} onInput=${(e) => type({ labels: e.target.value })} /></div></div>
    <div class="sec acts-row">${problem && html`<${Fault} problem=${problem} />`}<${Act} class="pri" path="/v1/runs" body=${body} disabled=${Object.keys(faults).length > 0 || missing.length > 0} onProblem=${setProblem} onDone=${(run) => { forget(); go(at("runs", run.run)); }}>Start the run<//>
    ${missing.length > 0 && html`<span class="q small">Still needed: ${missing.map((k) => titleOf(k, schema.properties[k])).join(", ")}</span>`}</div></form>`;
}

const Text = ({ of }) => html`<bdi>${plain(String(of).slice(0, 1000))}</bdi>`;
const titleOf = (key, s) => plain(String(s?.title || key).slice(0, 200));

const order = (schema, key) => { const i = (schema.required || []).indexOf(key); return i < 0 ? 1000 : i; };
const placeOf = (problem, key) => problem?.errors?.find((e) => e.pointer.includes("/" + key))?.detail || (problem?.message.includes("/" + key + ":") ? problem.message.split("/" + key + ": ")[1].split(";")[0] : "");

// valueOf returns the typed text as the value that the schema requires; undefined: nothing was typed.
function valueOf(s, text) {
  if (text === undefined || (text === "" && s.type !== "string")) return [undefined, ""];
  if (s.enum) return [s.enum.find((v) => JSON.stringify(v) === text), ""]; // a kept text may be from an older schema
  switch (s.type) {
    case "boolean": return [text === "true", ""];
    case "integer": return /^-?\d+$/.test(text.trim()) ? [Number(text), Number.isSafeInteger(Number(text)) ? "" : "This is too large for a form."] : [undefined, "This is no whole number."];
    case "number": return text.trim() && isFinite(text) ? [Number(text), ""] : [undefined, "Not a number."];
    case "string": return [text, ""];
  }
  const [v, wrong] = parsed(text);
  return [v, wrong];
}

// limits describes the bounds of the schema, in words.
function limits(s) {
  const said = [];
  if (s.minimum !== undefined || s.maximum !== undefined) said.push(`from ${s.minimum ?? "…"} to ${s.maximum ?? "…"}`);
  if (s.minLength > 0 || s.maxLength !== undefined) said.push(`${s.minLength ?? 0} to ${s.maxLength ?? "…"} characters`);
  if (s.pattern) said.push("like " + s.pattern);
  if (s.format && !secret(s)) said.push(s.format);
  if (!simple(s)) said.push("JSON: " + [s.type || "anything"].flat().join(" or "));
  if (s.default !== undefined) said.push("at first " + shown(s.default).slice(0, 100));
  return said.join(", ");
}

function Field({ name, schema: s, required, value, fault, set }) {
  const id = "f-" + name, example = s.examples?.[0] === undefined ? "" : shown(s.examples[0]).slice(0, 100);
  const props = { id, value: value ?? "", required, "aria-describedby": id + "-hint", "aria-invalid": fault ? "true" : undefined, placeholder: example, onInput: (e) => set(e.target.value) };
  const blank = required ? "choose" : "–";
  let control;
  if (s.enum) control = html`<select ...${props}><option value="">${blank}</option>${s.enum.map((v) => html`<option value=${JSON.stringify(v)}>${shown(v)}</option>`)}</select>`;
  else if (s.type === "boolean") control = html`<select ...${props}><option value="">${blank}</option><option value="true">true</option><option value="false">false</option></select>`;
  else if (s.type === "integer" || s.type === "number") control = html`<input ...${props} inputmode="decimal" />`;
  else if (s.type === "string") control = html`<input ...${props} maxlength=${s.maxLength} type=${secret(s) ? "password" : "text"} autocomplete="off" />`;
  else control = html`<textarea ...${props} class="code" rows=${s.type === "array" || s.type === "object" ? 3 : 2} spellcheck="false" placeholder=${example || { array: "[]", object: "{}" }[s.type]} />`;
  const about = [s.description, limits(s)].filter(Boolean);
  return html`<label for=${id}><${Text} of=${titleOf(name, s)} />${required && html`<span class="qq small"> needed</span>`}${s.title && s.title !== name && html`<span class="qq small code block cut"><${Text} of=${name} /></span>`}</label><div class="ctl">${control}<div id=${id + "-hint"} class="hint">${fault && html`<span class="bad block"><${Text} of=${fault} /></span>`}${about.map((a) => html`<span class="block"><${Text} of=${a} /></span>`)}</div></div>`;
}
