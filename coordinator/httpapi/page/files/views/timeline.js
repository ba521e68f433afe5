// The time of a run: a row for each step, a bar for each attempt. A mark replaces a silence, and shows how long it was. The events, and
// the list of steps, have the same in words.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../ui.js";
import { go, here, withQuery } from "../route.js";
import { get, of, query } from "../api.js";
import { criticalPath } from "../critical.js";
import { Mark } from "../mark.js";
import { clock, many, now, number, took } from "../time.js";
import { Empty, Fault, Loading, Name, useGet } from "../parts.js";
import { layoutOf } from "./graph.js";

const rowsMax = 500, rowHeight = 30, folded = 44;
const labelRoom = 150; // beside the bars: the duration of a step, and its number of attempts

export function Timeline({ model, run, step }) {
  const [events, setEvents] = useState(null);
  const [problem, setProblem] = useState(null);
  const seq = model.seq.value;
  useEffect(() => {
    let stopped = false;
    (async () => {
      try {
        const all = [];
        for (let cursor = "", n = 0; n < 20; n++) {
          const h = await get(of(run.run, "history") + query({ cursor }));
          for (let i = 0; i < h.seq.length; i++) all.push({ at: h.at[i], type: h.types[h.type[i]], step: h.steps[h.step[i]] });
          if (!(cursor = h.next)) break;
        }
        if (!stopped) setEvents(all);
      } catch (e) {
        if (!stopped) setProblem(e);
      }
    })();
    return () => { stopped = true; };
  }, [run.run, run.finished ? seq : Math.floor(seq / 20), run.events]);
  if (problem) return html`<div class="page"><${Fault} problem=${problem} /></div>`;
  if (!events) return html`<${Loading} rows=${10} />`;
  return html`<${Drawn} ...${{ events, model, run, step }} />`;
}

// barsOf returns the rows: of each step the bars of its calls, in the order in which they began.
function barsOf(events, end) {
  const rows = new Map();
  for (const e of events) {
    if (!e.step) continue;
    let row = rows.get(e.step);
    if (!row) rows.set(e.step, row = { step: e.step, bars: [] });
    const last = row.bars.at(-1);
    if (e.type === "call.requested") row.bars.push({ from: e.at, to: 0, kind: "run" });
    else if (last && !last.to && ["call.responded", "call.error", "call.aborted", "node.aborted"].includes(e.type)) Object.assign(last, { to: e.at, kind: e.type === "call.responded" ? "run" : e.type === "call.error" ? "bad" : "gone" });
    else if (e.type === "decision.requested") row.bars.push({ from: e.at, to: 0, kind: "wait" });
    else if (last?.kind === "wait" && !last.to && e.type.startsWith("decision.")) last.to = e.at;
  }
  const list = [...rows.values()].filter((r) => r.bars.length);
  for (const r of list) for (const b of r.bars) if (!b.to) { b.to = end; b.open = true; }
  return list;
}

// axisOf folds long times without events. It returns pieces of time, each with its width.
function axisOf(events, start, end, width) {
  const marks = [...new Set([start, ...events.map((e) => e.at).filter((t) => t > start && t < end), end])].sort((a, b) => a - b), whole = end - start, pieces = [];
  let from = marks[0];
  for (let i = 1; i < marks.length; i++) {
    const gap = marks[i] - marks[i - 1];
    if (gap > Math.max(30_000, whole * 0.25)) {
      if (marks[i - 1] > from) pieces.push({ from, to: marks[i - 1] });
      pieces.push({ from: marks[i - 1], to: marks[i], quiet: true });
      from = marks[i];
    }
  }
  if (end > from || !pieces.length) pieces.push({ from, to: Math.max(end, from + 1) });
  const quiet = pieces.filter((p) => p.quiet).length, busy = pieces.reduce((n, p) => n + (p.quiet ? 0 : p.to - p.from), 0) || 1;
  let x = 0;
  for (const p of pieces) {
    p.x = x;
    p.width = p.quiet ? folded : Math.max(8, ((width - quiet * folded) * (p.to - p.from)) / busy);
    x += p.width;
  }
  const at = (t) => { const p = pieces.find((p) => t <= p.to) || pieces.at(-1); return p.x + (p.width * Math.max(0, Math.min(t, p.to) - p.from)) / Math.max(1, p.to - p.from); };
  const timeAt = (x) => { const p = pieces.find((p) => x <= p.x + p.width) || pieces.at(-1); return p.from + ((p.to - p.from) * (x - p.x)) / p.width; };
  return { pieces, at, timeAt };
}

// useRoom measures the room beside the names, first and after each change.
function useRoom(there) {
  const ref = useRef(null), [room, set] = useState(900);
  useLayoutEffect(() => {
    let frame = 0;
    const measure = () => { frame = 0; if (ref.current) set(Math.max(470, Math.floor(ref.current.clientWidth))); };
    const sizes = new ResizeObserver(() => { frame ||= requestAnimationFrame(measure); });
    if (ref.current) sizes.observe(ref.current);
    measure();
    return () => { sizes.disconnect(); cancelAnimationFrame(frame); };
  }, [there]);
  return [ref, room];
}

// pathOf returns the steps on the critical path, if the drawing of the workflow has their order.
function pathOf(rows, drawing) {
  if (!drawing?.keys.length) return new Set();
  const index = new Map(drawing.keys.map((key, i) => [key, i])), before = drawing.keys.map(() => []);
  drawing.to.forEach((to, e) => before[to].push(drawing.from[e]));
  const nodeOf = (step) => { let key = step; while (!index.has(key) && key.includes("[")) key = key.slice(0, key.lastIndexOf("[")); return index.get(key) ?? -1; };
  return new Set(criticalPath(rows.filter((r) => nodeOf(r.step) >= 0).map((r) => ({ step: r.step, from: r.bars[0].from, to: Math.max(...r.bars.map((b) => b.to)) })), (node) => before[node], nodeOf));
}

// rangeIn returns the range of the address, [from, to] in milliseconds since the first event; null: all of it.
function rangeIn(first) {
  const [from, to] = (here.value.query.get("range") || "").split("-").map(Number);
  return to > from && from >= 0 ? [first + from, first + to] : null;
}

// Range chooses a part of the time: by dragging over it, or with the arrow keys (with Shift the end moves) and Enter. Escape shows all again.
function Range({ width, height, timeAt, choose, range }) {
  const [picked, pick] = useState(null); // two places; the second moves
  const from = useRef(null);
  const place = (e) => Math.max(0, Math.min(width, e.clientX - e.currentTarget.getBoundingClientRect().left));
  const take = (p) => { pick(null); if (p && Math.abs(p[1] - p[0]) > 4) choose([timeAt(Math.min(...p)), timeAt(Math.max(...p))]); };
  const key = (e) => {
    const step = e.key === "ArrowRight" ? width / 50 : e.key === "ArrowLeft" ? -width / 50 : 0, within = (v) => Math.max(0, Math.min(width, v));
    if (step) pick((p) => { const [a, b] = p || [0, width / 5]; return e.shiftKey ? [a, within(Math.max(a + 8, b + step))] : [within(a + step), within(b + step)]; });
    else if (e.key === "Enter" && picked) take(picked);
    else if (e.key === "Escape" && picked) pick(null);
    else if (e.key === "Escape" && range) choose(null);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  return html`<div class="tl-range" role="group" tabindex="0" aria-label="Choose a part of the time: arrows move it, Shift and arrows its end, Enter shows it, Escape all" style=${{ width: width + "px", height: height + "px" }}
    onKeyDown=${key} onPointerDown=${(e) => { if (e.button === 0) { from.current = place(e); e.currentTarget.setPointerCapture(e.pointerId); } }} onPointerMove=${(e) => { if (from.current !== null) pick([from.current, place(e)]); }}
    onPointerUp=${(e) => { if (from.current !== null) take([from.current, place(e)]); from.current = null; }} onPointerCancel=${() => { from.current = null; pick(null); }} onBlur=${() => pick(null)}>${picked && html`<i style=${{ left: Math.min(...picked) + "px", width: Math.abs(picked[1] - picked[0]) + "px" }} />`}</div>`;
}

function Drawn({ events, model, run, step }) {
  const end = run.finished ? events.at(-1).at : now.value;
  const whole = barsOf(events, end), first = events[0].at, range = rangeIn(first);
  const drawing = useGet(layoutOf(run)).value;
  const path = pathOf(whole, drawing);
  const rows = range ? whole.map((r) => ({ step: r.step, bars: r.bars.filter((b) => b.from < range[1] && b.to > range[0]) })).filter((r) => r.bars.length) : whole;
  const choose = (r) => go(withQuery({ range: r ? Math.floor(r[0] - first) + "-" + Math.ceil(r[1] - first) : "" }));
  const [ref, room] = useRoom(whole.length > 0);
  if (!whole.length) return html`<${Empty} title="Nothing has been asked yet">When a step has begun, its time is here.<//>`;
  const width = room - labelRoom, [start, stop] = range || [first, end], { pieces, at, timeAt } = axisOf(events, start, stop, width);
  const within = (b) => Math.min(b.to, stop) - Math.max(b.from, start);
  const sum = (kind) => rows.reduce((n, r) => n + r.bars.filter((b) => b.kind === kind).reduce((m, b) => m + within(b), 0), 0);
  const failed = rows.reduce((n, r) => n + r.bars.filter((b) => b.kind === "bad").length, 0);
  const shown = rows.slice(0, rowsMax), height = 28 + shown.length * rowHeight;
  const longest = whole.reduce((a, r) => { const d = r.bars.reduce((n, b) => n + b.to - b.from, 0); return d > a[1] ? [r.step, d] : a; }, ["", 0]);
  return html`<div class="time-v"><div class="where"><p>${longest[0] ? html`Longest: <b><bdi>${longest[0].slice(0, 100)}</bdi></b>, ${took(longest[1])} of ` : "All in "}${took(end - first)}.${range && html` Shown: ${took(stop - start)}, from ${clock(start)}. <button class="link" type="button" onClick=${() => choose(null)}>Show all</button>`}</p><div class="keys"><span><svg viewBox="0 0 20 10" aria-hidden="true"><rect class="run" y="1" width="20" height="8" rx="2" /></svg>running <b>${took(sum("run"))}</b></span>
      ${sum("wait") > 0 && html`<span><svg viewBox="0 0 20 10" aria-hidden="true"><rect class="wait" x=".5" y="1" width="19" height="8" rx="2" /></svg>waiting for a decision <b>${took(sum("wait"))}</b></span>`}
      ${failed > 0 && html`<span><svg viewBox="0 0 20 10" aria-hidden="true"><rect class="bad-bar" x=".5" y="1" width="19" height="8" rx="2" /></svg>failed <b>${many(failed, "attempt")}</b></span>`}
      ${pieces.some((p) => p.quiet) && html`<span><svg viewBox="0 0 20 10" aria-hidden="true"><rect class="fold-m" x="4" width="12" height="10" /></svg>folded silence</span>`}
      ${path.size > 1 && html`<span><svg viewBox="0 0 20 10" aria-hidden="true"><path class="crit" d="M0 5h20" /></svg>on the critical path <b>${many(path.size, "step")}</b></span>`}</div></div>
    ${!rows.length && html`<p class="where">No step ran then.</p>`}<div class="time-g"><ol class="time-n" data-stay>${shown.map((r) => html`<li key=${r.step}><a data-row href=${withQuery({ step: r.step })} aria-current=${r.step === step ? "true" : undefined}><${Mark} status=${model.index.has(r.step) ? model.statusOf(r.step) : "completed"} /><${Name} text=${r.step} max=${28} /></a></li>`)}</ol>
    <div class="tl-box" ref=${ref}><${Range} ...${{ width, height, timeAt, choose, range }} /><svg class="tl" width=${room} height=${height} role="img" aria-label=${"Timeline" + (path.size > 1 ? "; on the critical path: " + [...path].slice(0, 30).join(", ") : "") + ": " + shown.slice(0, 30).map((r) => r.step + " " + took(r.bars.reduce((n, b) => n + b.to - b.from, 0))).join(", ").slice(0, 1500)}>
      ${shown.map((r, i) => i % 2 === 1 && html`<rect class="zebra" y=${28 + i * rowHeight} width=${room} height=${rowHeight} />`)}
      ${pieces.map((p) => (p.quiet ? html`<rect class="fold-m" x=${p.x} width=${p.width} y="20" height=${height - 20} /><text class="ax" x=${p.x + p.width / 2} y="14" text-anchor="middle">${took(p.to - p.from)}</text>` : p.width > 64 ? html`<path class="rule" d=${`M${p.x + 0.5} 20V${height}`} /><text class="ax" x=${p.x + 2} y="14">${clock(p.from)}</text>` : ""))}
      ${shown.map((r, i) => r.bars.map((b, k) => { const x = at(b.from), w = Math.max(3, at(b.to) - x), y = 28 + i * rowHeight + 10, next = r.bars[k + 1]; return html`${next && html`<path class="back" d=${`M${x + w} ${y + 5}H${at(next.from)}`} />`}<rect class=${{ run: "run", bad: "bad-bar", gone: "queued", wait: "wait" }[b.kind] + (b.open ? " open-b" : "")} x=${x} y=${y} width=${w} height="10" rx="2" />${k === r.bars.length - 1 && html`<text class="ax" x=${x + w + 6} y=${y + 9}>${took(b.to - r.bars[0].from)}${r.bars.length > 1 ? ", " + r.bars.length + " attempts" : ""}</text>`}`; }))}
      ${path.size > 1 && shown.map((r, i) => path.has(r.step) && html`<path class="crit" d=${`M${at(r.bars[0].from)} ${28 + i * rowHeight + 23.5}H${Math.max(at(r.bars[0].from) + 3, at(r.bars.at(-1).to))}`} />`)}</svg></div></div>
    ${rows.length > rowsMax && html`<div class="foot">The first ${number(rowsMax)} of ${many(rows.length, "step")} that have begun.</div>`}</div>`;
}
