// The text that the programs and workers of a run write, while they run: a separate stream, open as long as the view is.
import { html, useEffect, useLayoutEffect, useRef, useState } from "../ui.js";
import { of, query } from "../api.js";
import { clock, exactly, ms } from "../time.js";
import { withQuery } from "../route.js";
import { Empty, Fault, Loading, Name } from "../parts.js";

const kept = 5000; // lines
const colours = /\x1b\[[0-9;]*[A-Za-z]/g;

export function Log({ run, step }) {
  const [state, set] = useState({ lines: [], lost: false, begun: false, problem: null });
  const box = useRef(null), below = useRef(true);
  useEffect(() => {
    const lines = [], open = new Map(); // by stream: the line that has no end yet
    let frame = 0, lost = false;
    const show = (more = {}) => { frame ||= requestAnimationFrame(() => { frame = 0; set((s) => ({ ...s, lines: lines.slice(-kept), lost, begun: true, ...more })); }); };
    const take = (e) => {
      const key = [e.step, e.attempt, e.participant, e.stream].join("\n");
      e.text.replace(colours, "").split("\n").forEach((text, i, all) => {
        const line = i === 0 && open.get(key);
        if (line) line.text = (line.text + text).slice(0, 20_000);
        else if (text || i < all.length - 1) lines.push({ ...e, text, n: lines.length });
        if (i === all.length - 1 && text) open.set(key, line || lines.at(-1));
        else open.delete(key);
      });
    };
    const source = new EventSource(of(run.run, "feed") + query({ view: "log", step }));
    source.addEventListener("log", (e) => {
      const data = JSON.parse(e.data);
      lost ||= Boolean(data.lost);
      data.entries?.forEach(take);
      show();
    });
    source.addEventListener("end", () => { source.close(); show(); });
    source.addEventListener("error", (e) => { if (e.data) { source.close(); show({ problem: { message: JSON.parse(e.data).detail || "" } }); } });
    source.onopen = () => show();
    return () => { source.close(); cancelAnimationFrame(frame); };
  }, [run.run, step]);
  useLayoutEffect(() => { if (below.current && box.current) box.current.scrollTop = box.current.scrollHeight; }, [state.lines]);
  if (state.problem) return html`<div class="page"><${Fault} problem=${state.problem} /></div>`;
  if (!state.begun) return html`<${Loading} rows=${10} />`;
  if (!state.lines.length) return run.finished ? html`<${Empty} title="The log is not kept any more">What programs and workers write is here while they run. The end of it stays with the result of the step.<//>` : html`<${Empty} title="Nothing is written">What programs and workers write is here while they run. The end of it stays with the result of the step.<//>`;
  return html`<div class="log code" role="log" tabindex="0" aria-label="Log" data-stay ref=${box} onScroll=${(e) => { const b = e.currentTarget; below.current = b.scrollHeight - b.scrollTop - b.clientHeight < 40; }}>
    ${(state.lost || state.lines.length === kept) && html`<p class="q">Earlier lines are not kept.</p>`}
    ${state.lines.map((l) => html`<div key=${l.n} class=${l.stream === "stderr" ? "err" : ""}><time title=${exactly(ms(l.at))}>${clock(ms(l.at))}</time><a class="cut" href=${withQuery({ step: l.step })}><${Name} text=${l.step + (l.participant ? "/" + l.participant : "")} max=${24} /></a><bdi>${l.text}</bdi></div>`)}
    ${step && html`<p class="q">Only what <bdi>${step.slice(0, 100)}</bdi> writes. <a href=${withQuery({ step: "" })}>All of the run</a></p>`}</div>`;
}
