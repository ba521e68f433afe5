// The shapes of statuses. Square: before its gate; round: let through; diamond: broken out. A shape stands beside its word.
import { html } from "./ui.js";

const symbols = `
<pattern id="stripe" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="stripe-a" width="6" height="6"/><path class="stripe-b" d="M1.5 0v6" stroke-width="3"/></pattern>
<pattern id="wait" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="wait-a" width="5" height="5"/><path class="wait-b" d="M1 0v5" stroke-width="1"/></pattern>
<clipPath id="disc"><circle cx="8" cy="8" r="5.6"/></clipPath>
<symbol id="m-idle" viewBox="0 0 16 16"><rect x="2.75" y="2.75" width="10.5" height="10.5" rx="2" stroke-width="1.5" stroke-dasharray="2 1.75"/></symbol>
<symbol id="m-waiting" viewBox="0 0 16 16"><rect x="2.75" y="2.75" width="10.5" height="10.5" rx="2" stroke-width="1.5"/><path d="M5 9h6v2H5z" fill="currentColor" stroke="none"/></symbol>
<symbol id="m-ready" viewBox="0 0 16 16"><path d="M2.75 2v9.25a2 2 0 0 0 2 2h6.5a2 2 0 0 0 2-2V2" stroke-width="1.5"/><path d="M5 4.5h6V11H5z" fill="currentColor" stroke="none"/></symbol>
<symbol id="m-person" viewBox="0 0 16 16"><rect x="2" y="2" width="12" height="12" rx="2.5" fill="currentColor" stroke="none"/><g class="cutout"><circle cx="8" cy="6.2" r="1.9"/><path d="M4.2 12.2c.3-2.2 1.7-3.3 3.8-3.3s3.5 1.1 3.8 3.3z"/></g></symbol>
<symbol id="m-running" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.25" stroke-width="1.5"/><g clip-path="url(#disc)"><path class="wave" d="M0 8.5c2-1.6 4-1.6 6 0s2 1.6 4 0 2-1.6 4 0 2 1.6 4 0 2-1.6 4 0 2 1.6 4 0V16H0z" fill="currentColor" stroke="none"/></g></symbol>
<symbol id="m-completed" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="currentColor" stroke="none"/><path class="cutline" d="M4.8 8.3l2.2 2.2 4.2-4.6" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round"/></symbol>
<symbol id="m-failed" viewBox="0 0 16 16"><path d="M8 .2 15.8 8 8 15.8 .2 8z" fill="currentColor" stroke="none"/><path class="cutline" d="M6.1 6.1l3.8 3.8M9.9 6.1l-3.8 3.8" stroke-width="1.35" stroke-linecap="round"/></symbol>
<symbol id="m-aborted" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.25" stroke-width="1.5"/><path d="M4.8 8h6.4" stroke-width="2.2"/></symbol>
<symbol id="m-skipped" viewBox="0 0 16 16"><path d="M2 10.5c1.5-5 8-6 10.5-1.2" stroke-width="1.5" stroke-linecap="round"/><path d="M13.4 5.6v4.4H9" stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round"/><circle cx="7.5" cy="12" r="1.4" fill="currentColor" stroke="none"/></symbol>
<symbol id="m-paused" viewBox="0 0 16 16"><path d="M5.5 3.5v9M10.5 3.5v9" stroke-width="2.5" stroke-linecap="round"/></symbol>
<symbol id="m-parked" viewBox="0 0 16 16"><rect x="2.75" y="2.75" width="10.5" height="10.5" rx="2" stroke-width="1.5"/><path d="M3.5 12.5l9-9M3.5 3.5l9 9" stroke-width="1.5"/></symbol>`;

// Sprite holds the symbols, once in the document.
export const Sprite = () => html`<svg class="sprite" aria-hidden="true" dangerouslySetInnerHTML=${{ __html: "<defs>" + symbols + "</defs>" }} />`;

// statuses in the order in which the model numbers them.
export const statuses = ["idle", "waiting", "ready", "running", "completed", "failed", "aborted", "skipped", "person", "paused", "parked"];

const shapes = { partial: "failed", deadline_exceeded: "failed", step_timeout: "failed", damaged: "parked", pending: "waiting", answered: "completed", deleted: "aborted" };

// shapeOf returns the shape of any status.
export const shapeOf = (status) => shapes[status] || (statuses.includes(status) ? status : "idle");

// words are those beside shapes, where they are not the status itself.
const words = { person: "waiting", deadline_exceeded: "deadline exceeded", step_timeout: "step timeout" };
export const wordOf = (status) => words[status] || status;

export const Mark = ({ status, big }) => {
  const shape = shapeOf(status);
  return html`<svg class=${"mark s-" + shape + (big ? " big" : "")} aria-hidden="true"><use href=${"#m-" + shape} /></svg>`;
};

export const Status = ({ status, children }) => html`<span class=${"st s-" + shapeOf(status)}><${Mark} status=${status} />${children || wordOf(status)}</span>`;

export const Chip = ({ status, children }) =>
  html`<span class=${"chip tint s-" + shapeOf(status)}><${Mark} status=${status} />${children || wordOf(status)}</span>`;

// Channel shows the progress of a run: done fills it, moving is half as high, failed stands out of it.
export function Channel({ done, failed, moving, total }) {
  const at = (n) => Math.round((88 * n) / Math.max(1, total) * 10) / 10;
  const d = at(done);
  return html`<svg class="channel" viewBox="0 0 88 10" aria-hidden="true"><rect class="bed" x=".5" y="2.5" width="87" height="5" rx="1" />
    ${d > 0 && html`<rect class="d" y="2" width=${d} height="6" rx="1" />`}
    ${failed > 0 && html`<rect class="f" x=${Math.min(85.5, d)} y="0" width="2.5" height="10" rx=".5" />`}
    ${moving > 0 && html`<rect class="r" x=${Math.min(82, d + (failed > 0 ? 3 : 0.5))} y="3.5" width=${Math.max(6, Math.min(88 - d, at(moving)))} height="3" rx="1" />`}</svg>`;
}
