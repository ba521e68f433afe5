// The graph of a run: the canvas, its controls, and the small map beside it. The list of steps has the same content.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../ui.js";
import { go, here, withQuery } from "../route.js";
import { of, query } from "../api.js";
import { Mark, statuses, wordOf } from "../mark.js";
import { many, now, number } from "../time.js";
import { Empty, Fault, Loading, narrow, useGet } from "../parts.js";
import { Graph } from "../draw/graph.js";
import { Scene } from "../draw/scene.js";
import { noteOf, Steps } from "./steps.js";

export const layoutOf = (run) => `/v1/workflows/${encodeURIComponent(run.workflow)}/versions/${run.hash}/layout`;

export function GraphView({ model, run, step }) {
  const { value, problem, again } = useGet(layoutOf(run));
  if (problem && !value) return html`<div class="page"><${Fault} problem=${problem} again=${again} title="The graph cannot be drawn." /></div>`;
  if (!value) return html`<${Loading} rows=${8} />`;
  if (!value.keys.length) return html`<${Empty} title="Nothing to draw">This kind of workflow has no steps.<//>`;
  return html`<${Canvas} ...${{ model, run, step, drawing: value }} />`;
}

function Canvas({ model, run, step, drawing }) {
  const canvas = useRef(null), mini = useRef(null), graph = useRef(null), latest = useRef({});
  latest.current = { run, model };
  const find = here.value.query.get("find") || "";
  const [scale, setScale] = useState(1), [wet, setWet] = useState(0); // wet: lines by which tokens of a playbook went
  useLayoutEffect(() => { // before a key or a pointer can come
    const scene = new Scene(drawing);
    const places = new Int32Array(scene.count).fill(-1);
    const place = (i) => (places[i] >= 0 ? places[i] : (places[i] = model.index.get(scene.keys[i]) ?? -1));
    const look = (i) => { const p = place(i); return p < 0 ? byOthers(scene, model, i) : model.state[p]; };
    const note = (i, status) => {
      const s = model.steps.get(scene.keys[i]), items = model.items.get(scene.keys[i]);
      if (items?.of) return { text: number(items.ok) + "/" + number(items.of) + (items.failed ? ", " + number(items.failed) + " failed" : ""), bar: status === "completed" ? null : items };
      return { text: noteOf(s, status, latest.current.run), live: s?.live, held: s?.tokens };
    };
    const g = graph.current = new Graph(canvas.current, scene, look, note, (i) => model.moved.get(place(i)) ?? -1e9);
    g.onView = () => { setScale(g.scale); paintMini(g, mini.current); };
    g.fit(false);
    return g.watch();
  }, [drawing, model]);
  const version = model.version.value, details = model.details.value;
  useEffect(() => { graph.current?.change(); }, [version, details]);
  useEffect(() => {
    if (!run.counts) return; // it is no playbook
    const g = graph.current, { scene } = g, source = new EventSource(of(run.run, "feed") + query({ view: "net" }));
    g.taken = new Set();
    const take = (e) => {
      for (const { step, taken } of JSON.parse(e.data).net || []) {
        const at = scene.index.get(step), lines = taken && scene.points.map((_, l) => l).filter((l) => scene.from[l] === at);
        for (const a of taken || []) if (lines[a] !== undefined) g.taken.add(lines[a]);
      }
      setWet(g.taken.size);
      g.change();
    };
    source.addEventListener("snapshot", take);
    source.addEventListener("update", take);
    source.addEventListener("end", () => source.close());
    return () => source.close();
  }, [run.run, Boolean(run.counts), drawing]);
  const second = model.counts.value[3] ? now.value : 0;
  useEffect(() => { graph.current?.draw(); }, [second]);
  useEffect(() => {
    // Of the address, not of the view that was drawn: a key may have chosen another step since.
    const g = graph.current, i = g.scene.index.get(here.value.query.get("step")) ?? -1;
    g.selected = i;
    if (i >= 0) g.show(i);
    g.draw();
  }, [step, drawing]);
  useEffect(() => {
    const g = graph.current;
    g.found = new Set(find ? g.scene.keys.map((k, i) => (k.includes(find) ? i : -1)).filter((i) => i >= 0) : []);
    const first = [...g.found][0];
    if (first !== undefined) g.show(first, true);
    g.draw();
  }, [find, drawing]);
  const choose = (i) => {
    graph.current.selected = i;
    go(withQuery({ step: i >= 0 ? graph.current.scene.keys[i] : "" }), true);
  };
  const hands = useHands(canvas, graph, choose);
  const jump = (status) => {
    const g = graph.current, all = g.scene.keys.map((_, i) => i).filter((i) => statuses[g.look(i)] === status);
    if (!all.length) return;
    const next = all[(all.indexOf(g.selected) + 1) % all.length];
    g.show(next, true);
    choose(next);
  };
  const counts = model.counts.value;
  return html`<div class="graph-box"><canvas class="graph-c" ref=${canvas} tabindex="0" role="img" aria-label=${"Graph of the run, " + many(drawing.keys.length, "step") + (run.counts ? "; tokens went by " + number(wet) + " of " + many(drawing.from.length, "channel") : "") + ". Arrow keys go from step to step; the tab Steps has the same as a list."} ...${hands} />
    <span class="vh" role="status">${step ? step + ", " + wordOf(model.statusOf(step)) : ""}</span>
    <div class="mini"><canvas ref=${mini} aria-hidden="true" onPointerDown=${(e) => miniTo(e, graph.current)} onPointerMove=${(e) => { if (e.buttons) miniTo(e, graph.current); }} />
      <div class="ctl"><button type="button" onClick=${() => graph.current.fit(true)}>Fit</button><button type="button" aria-label="Smaller" onClick=${() => graph.current.zoom(0.8)}>−</button>
      <button type="button" aria-label="Full size" onClick=${() => graph.current.zoom(1 / graph.current.scale)}>${Math.round(scale * 100)} %</button><button type="button" aria-label="Larger" onClick=${() => graph.current.zoom(1.25)}>+</button></div></div></div>
    <div class="ticker">${["failed", "person", "running", "ready", "waiting", "idle", "completed", "skipped", "aborted"].map((s) => counts[statuses.indexOf(s)] > 0 && html`<button type="button" onClick=${() => jump(s)}><${Mark} status=${s} />${number(counts[statuses.indexOf(s)])} ${s === "person" ? "asked" : s}</button>`)}</div>
    ${narrow.value && html`<${Steps} ...${{ model, run, step }} />`}`;
}

// byOthers is the status of a node without events: a join or an unnamed conditional follows the nodes around it.
function byOthers(scene, model, i) {
  const of = (j) => { const p = model.index.get(scene.keys[j]); return p === undefined ? -1 : model.state[p]; };
  const after = scene.after[i].map(of).filter((s) => s >= 0);
  if (after.some((s) => s > 0 && s !== 1)) return 4;
  const before = scene.before[i].map(of).filter((s) => s >= 0);
  return before.length && before.every((s) => s === 4 || s === 7) && after.length === 0 ? 4 : 0;
}

// useHands handles input on the canvas: drag, wheel, pinch, click and keys.
function useHands(canvas, graph, choose) {
  const drag = useRef(null), fingers = useRef(new Map());
  useEffect(() => {
    const wheel = (e) => {
      e.preventDefault();
      const g = graph.current, box = canvas.current.getBoundingClientRect();
      if (e.ctrlKey || e.metaKey) g.zoom(Math.exp(-e.deltaY / 200), e.clientX - box.left, e.clientY - box.top);
      else g.moveTo(g.x + (e.shiftKey ? e.deltaY : e.deltaX) / g.scale, g.y + (e.shiftKey ? 0 : e.deltaY) / g.scale);
    };
    canvas.current.addEventListener("wheel", wheel, { passive: false });
    const c = canvas.current;
    return () => c.removeEventListener("wheel", wheel);
  }, []);
  const spread = () => { const [a, b] = [...fingers.current.values()]; return Math.hypot(a.x - b.x, a.y - b.y); };
  return {
    onPointerDown: (e) => {
      fingers.current.set(e.pointerId, { x: e.clientX, y: e.clientY });
      e.target.setPointerCapture(e.pointerId);
      const g = graph.current;
      drag.current = fingers.current.size === 2 ? { pinch: spread(), scale: g.scale } : { x: e.clientX, y: e.clientY, gx: g.x, gy: g.y, far: false };
    },
    onPointerMove: (e) => {
      const g = graph.current, d = drag.current, box = canvas.current.getBoundingClientRect();
      if (!d) { canvas.current.classList.toggle("over", g.nodeAt(e.clientX - box.left, e.clientY - box.top) >= 0); return; }
      fingers.current.set(e.pointerId, { x: e.clientX, y: e.clientY });
      if (d.pinch) { if (fingers.current.size === 2) g.zoom((d.scale * spread()) / d.pinch / g.scale); return; }
      if (Math.hypot(e.clientX - d.x, e.clientY - d.y) > 4) d.far = true;
      if (d.far) g.moveTo(d.gx - (e.clientX - d.x) / g.scale, d.gy - (e.clientY - d.y) / g.scale);
    },
    onPointerUp: (e) => {
      fingers.current.delete(e.pointerId);
      const d = drag.current, box = canvas.current.getBoundingClientRect();
      drag.current = null;
      if (d && !d.far && !d.pinch) choose(graph.current.nodeAt(e.clientX - box.left, e.clientY - box.top));
    },
    onPointerCancel: (e) => { fingers.current.delete(e.pointerId); drag.current = null; },
    onKeyDown: (e) => {
      const g = graph.current;
      if (e.key.startsWith("Arrow")) { choose(g.selected < 0 ? 0 : g.scene.next(g.selected, e.key)); g.show(Math.max(0, g.selected)); }
      else if (e.key === "+" || e.key === "=") g.zoom(1.25);
      else if (e.key === "-") g.zoom(0.8);
      else if (e.key === "0") g.fit(true);
      else return;
      e.preventDefault();
      e.stopPropagation();
    },
  };
}

const miniWidth = 150, miniHeight = 92;

function miniScale(g) { return Math.min(0.25, miniWidth / Math.max(1, g.scene.width), miniHeight / Math.max(1, g.scene.height)); }

function paintMini(g, canvas) {
  if (!canvas) return;
  const ratio = g.ratio, k = miniScale(g), ox = (miniWidth - g.scene.width * k) / 2, oy = (miniHeight - g.scene.height * k) / 2;
  if (canvas.width !== miniWidth * ratio) { canvas.width = miniWidth * ratio; canvas.height = miniHeight * ratio; }
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, miniWidth, miniHeight);
  c.drawImage(g.thumb(g.scene.width * k * ratio, g.scene.height * k * ratio), ox, oy, g.scene.width * k, g.scene.height * k);
  c.strokeStyle = g.pen.ink["ink-2"];
  const x = Math.max(0.5, ox + g.x * k), y = Math.max(0.5, oy + g.y * k);
  c.strokeRect(x, y, Math.max(3, Math.min(miniWidth - 0.5 - x, ox + (g.x + g.w / g.scale) * k - x)), Math.max(3, Math.min(miniHeight - 0.5 - y, oy + (g.y + g.h / g.scale) * k - y)));
}

function miniTo(e, g) {
  const box = e.currentTarget.getBoundingClientRect(), k = miniScale(g);
  const x = (e.clientX - box.left - (miniWidth - g.scene.width * k) / 2) / k, y = (e.clientY - box.top - (miniHeight - g.scene.height * k) / 2) / k;
  g.moveTo(x - g.w / g.scale / 2, y - g.h / g.scale / 2);
}
