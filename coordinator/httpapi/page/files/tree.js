// A value as a tree whose branches open on demand. Texts are texts, whatever is in them.
import { html, useState } from "./ui.js";
import { bytes, number } from "./time.js";
import { plain } from "./parts.js";

const shown = 100; // members before "more"
const cut = 400; // characters of a text before "all of it"

export const Tree = ({ value, open = 2 }) => html`<div class="json tree"><${Value} value=${value} open=${open} /></div>`;

function Value({ value, name, open }) {
  const label = name !== undefined && html`<bdi class="k">${plain(String(name))}</bdi>${": "}`;
  if (value !== null && typeof value === "object") return html`<${Branch} ...${{ value, label, open }} />`;
  return html`<div class="leaf">${label}${typeof value === "string" ? html`<${Text} text=${value} />` : html`<span class="lit">${String(value)}</span>`}</div>`;
}

function Text({ text }) {
  const [all, setAll] = useState(false);
  if (text.length <= cut || all) return html`<bdi class="str">"${plain(text)}"</bdi>`;
  return html`<bdi class="str">"${plain(text.slice(0, cut))}…</bdi> <button class="link" type="button" onClick=${() => setAll(true)}>all ${bytes(text.length)}</button>`;
}

function Branch({ value, label, open }) {
  const [isOpen, setOpen] = useState(open > 0);
  const [limit, setLimit] = useState(shown);
  const list = Array.isArray(value);
  const names = list ? value.map((_, i) => i) : Object.keys(value);
  if (names.length === 0) return html`<div class="leaf">${label}<span class="q">${list ? "[]" : "{}"}</span></div>`;
  const about = list ? "[" + number(names.length) + "]" : "{" + number(names.length) + "}";
  return html`<div class="branch"><button type="button" class="fold-b" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${label}<span class="q">${about}</span></button>
    ${isOpen && html`<div class="in">${names.slice(0, limit).map((n) => html`<${Value} key=${n} name=${n} value=${value[n]} open=${open - 1} />`)}
      ${names.length > limit && html`<button class="link" type="button" onClick=${() => setLimit(limit + 10 * shown)}>${number(names.length - limit)} more</button>`}</div>`}</div>`;
}
