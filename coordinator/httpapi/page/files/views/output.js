// The input and the output of a run.
import { html, useState } from "../ui.js";
import { of, query } from "../api.js";
import { Fault, Loading, useGet } from "../parts.js";
import { Tree } from "../tree.js";
import { Asked, Failure } from "./panel.js";

export function Output({ run }) {
  const [all, setAll] = useState(false);
  const first = useGet(of(run.run, "events") + query({ limit: "1" }));
  const whole = useGet(all ? of(run.run, "output") : "");
  const start = first.value?.items[0];
  return html`<div class="page values"><section class="sheet"><div class="sec"><h2>Input</h2>${first.problem ? html`<${Fault} problem=${first.problem} again=${first.again} />` : !first.value ? html`<${Loading} rows=${2} />` : start?.value === undefined && !start?.large ? html`<p class="q">It was started without one.</p>` : html`<${Asked} event=${start} />`}</div></section>
    <section class="sheet">${run.failure ? html`<${Failure} failure=${run.failure} />` : html`<div class="sec"><h2>Output</h2>
      ${run.output !== undefined ? html`<${Tree} value=${run.output} open=${3} />` : whole.value !== null && all ? html`<${Tree} value=${whole.value} open=${2} />` : run.preview ? html`<div class="json cutlines"><bdi>${run.preview}…</bdi></div><button class="btn s under" type="button" onClick=${() => setAll(true)}>Load all of it</button>`
        : html`<p class="q">${run.finished ? "It has none." : "It comes when the run has completed."}</p>`}</div>`}</section></div>`;
}
