// The events of a run, the newest known last. Scrolling down reads more; new ones are added at the end.
import { html, useEffect, useRef, useState } from "../ui.js";
import { here, withQuery } from "../route.js";
import { get, of, query } from "../api.js";
import { clock, exactly, ms, number } from "../time.js";
import { Fault, Loading, Name } from "../parts.js";
import { Tree } from "../tree.js";

const page = 100;

export function Events({ model, run }) {
  const [newest] = useState(run.events - page + 1);
  const from = Math.max(1, Number(here.value.query.get("from")) || newest);
  const [state, set] = useState({ items: null, problem: null, start: from });
  const busy = useRef(null);
  const seq = model.seq.value;
  const read = async (start, keep) => {
    if (keep && busy.current) return;
    busy.current?.abort(); // other events are wanted
    const stop = busy.current = new AbortController();
    try {
      const found = await get(of(run.run, "events") + query({ cursor: String(start), limit: String(page) }), stop.signal);
      set((s) => ({ items: keep ? [...s.items, ...found.items.filter((e) => e.seq > s.items.at(-1).seq)] : found.items, problem: null, start: keep ? s.start : start }));
    } catch (problem) {
      if (!stop.signal.aborted) set((s) => ({ ...s, problem }));
    } finally {
      if (busy.current === stop) busy.current = null;
    }
  };
  useEffect(() => { read(from, false); }, [from]);
  useEffect(() => () => busy.current?.abort(), []);
  const last = state.items?.at(-1)?.seq || 0;
  useEffect(() => {
    if (state.items?.length && seq > last && state.items.length < 1000 && last - state.start < 10 * page) read(last + 1, true);
  }, [seq, last, state.start]);
  if (state.problem && !state.items) return html`<div class="page"><${Fault} problem=${state.problem} again=${() => read(from, false)} /></div>`;
  if (!state.items) return html`<${Loading} rows=${14} />`;
  return html`<div class="events" data-stay><table class="list"><colgroup><col class="e-seq" /><col class="e-at" /><col class="e-type" /><col /></colgroup>
    <thead><tr><th scope="col" class="num">#</th><th scope="col">Time</th><th scope="col">Event</th><th scope="col">About</th></tr></thead>
    <tbody>${state.items.map((e) => html`<${Event} key=${e.seq} e=${e} />`)}</tbody></table>
    <div class="foot"><span>Events ${number(state.start)} to ${number(last)} of ${number(seq)}</span>
      ${state.start > 1 && html`<a href=${withQuery({ from: String(Math.max(1, state.start - page)) })}>Earlier</a>`}
      ${last < seq && html`<button class="link" type="button" onClick=${() => read(last + 1, true)}>Later</button>`}</div></div>`;
}

function Event({ e }) {
  const [open, setOpen] = useState(false);
  const rest = Object.fromEntries(Object.entries(e).filter(([k]) => !["seq", "at", "type", "step"].includes(k)));
  const more = Object.keys(rest).length > 0;
  const toggle = () => setOpen(!open);
  return html`<tr class=${open ? "chosen" : ""}><td class="num q code">${more ? html`<button class="link" type="button" data-row aria-expanded=${open} aria-label=${"Event " + e.seq} onClick=${toggle}>${e.seq}</button>` : e.seq}</td>
    <td class="q"><time title=${exactly(ms(e.at))}>${clock(ms(e.at))}</time></td><td class="code small">${e.type}</td>
    <td class="cut">${e.step && html`<a class="id" href=${withQuery({ step: e.step })}><${Name} text=${e.step} max=${40} /></a>`}${e.attempt > 1 && html` <span class="q">attempt ${e.attempt}</span>`} <span class="q"><bdi>${aboutOf(e)}</bdi></span></td></tr>
    ${open && html`<tr class="open-e"><td colspan="4"><${Tree} value=${rest} open=${3} /></td></tr>`}`;
}

function aboutOf(e) {
  const words = [e.participant, e.name, e.state, e.outcome, e.failure && e.failure.code + (e.failure.message ? ": " + e.failure.message.slice(0, 200) : ""), e.actor && "by " + e.actor, e.reason].filter(Boolean);
  if (words.length) return words.join(" · ");
  if (e.value !== undefined) return JSON.stringify(e.value).slice(0, 160);
  return e.large ? e.large.preview.slice(0, 160) : "";
}
