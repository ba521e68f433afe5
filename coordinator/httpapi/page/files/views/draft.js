// A workflow drawn without a run.
import { html, useEffect, useRef } from "../ui.js";
import { Empty, Fault, Loading, useGet } from "../parts.js";
import { Graph } from "../draw/graph.js";
import { Scene } from "../draw/scene.js";

export function Draft({ path }) {
  const { value, problem, again } = useGet(path);
  if (problem) return html`<${Fault} problem=${problem} again=${again} />`;
  if (!value) return html`<${Loading} />`;
  return html`<${Drawn} drawing=${value} />`;
}

export function Drawn({ drawing }) {
  const canvas = useRef(null);
  useEffect(() => {
    if (!canvas.current) return;
    const scene = new Scene(drawing);
    const g = new Graph(canvas.current, scene, () => 1, (i) => ({ text: scene.operations[i] !== scene.keys[i] ? scene.operations[i] : scene.labels[i] }), () => -1e9);
    g.plain = true;
    g.fit(true);
    return g.watch();
  }, [drawing]);
  if (!drawing.keys.length) return html`<${Empty} title="Nothing to draw">This kind of workflow has no steps.<//>`;
  return html`<canvas class="draft-c" ref=${canvas} role="img" aria-label=${"Drawing of the workflow: " + drawing.keys.slice(0, 40).join(", ").slice(0, 1000)} />`;
}
