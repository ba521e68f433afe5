// Colours, marks and texts on a canvas. Colours come from the tokens, again when the theme changes; a mark is drawn once per status and
// size and then copied; texts are measured once.
import { statuses } from "../mark.js";

const names = ["paper", "sheet", "sunk", "line", "edge", "ink", "ink-2", "ink-3", "focus", "chosen", "water", "water-soft", "water-line", "done", "fail", "fail-soft", "fail-solid", "person", "person-soft", "still", "gone", "none", "on-solid"];

// colours returns the tokens as the browser resolves them.
export function colours() {
  const probe = document.createElement("i");
  probe.className = "sprite";
  document.body.append(probe);
  const out = {};
  for (const name of names) {
    probe.style.color = `var(--${name})`;
    out[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return out;
}

// inkOf returns the colour of a status.
export const inkOf = { idle: "none", waiting: "still", ready: "water", running: "water", completed: "done", failed: "fail-solid", aborted: "gone", skipped: "none", person: "person", paused: "still", parked: "still" };

const square = new Path2D("M4.750 2.750h6.500a2 2 0 0 1 2 2v6.500a2 2 0 0 1-2 2h-6.500a2 2 0 0 1-2-2v-6.500a2 2 0 0 1 2-2z");
const shapes = {
  idle: (c) => { c.setLineDash([2, 1.75]); c.stroke(square); },
  waiting: (c) => { c.stroke(square); c.fillRect(5, 9, 6, 2); },
  ready: (c) => { c.stroke(new Path2D("M2.750 2v9.250a2 2 0 0 0 2 2h6.500a2 2 0 0 0 2-2V2")); c.fillRect(5, 4.5, 6, 6.5); },
  person: (c, k) => { c.fill(new Path2D("M4.500 2h7a2.500 2.500 0 0 1 2.500 2.500v7a2.500 2.500 0 0 1-2.500 2.500h-7A2.500 2.500 0 0 1 2 11.500v-7A2.500 2.500 0 0 1 4.500 2z")); c.fillStyle = k["on-solid"]; c.fill(new Path2D("M8 4.300a1.900 1.900 0 1 0 .01 0zM4.200 12.200c.3-2.200 1.700-3.300 3.800-3.300s3.500 1.100 3.800 3.300z")); },
  running: (c) => { c.stroke(new Path2D("M8 1.750a6.250 6.250 0 1 0 .01 0z")); c.save(); c.clip(new Path2D("M8 2.400a5.600 5.600 0 1 0 .01 0z")); c.fill(new Path2D("M0 8.500c2-1.600 4-1.600 6 0s2 1.600 4 0 2-1.600 4 0 2 1.600 4 0V16H0z")); c.restore(); },
  completed: (c, k) => { c.fill(new Path2D("M8 1a7 7 0 1 0 .01 0z")); c.strokeStyle = k["on-solid"]; c.lineWidth = 1.7; c.stroke(new Path2D("M4.800 8.300l2.200 2.200 4.200-4.600")); },
  failed: (c, k) => { c.fill(new Path2D("M8 .2 15.800 8 8 15.800.2 8z")); c.strokeStyle = k["on-solid"]; c.lineWidth = 1.35; c.stroke(new Path2D("M6.100 6.100l3.800 3.800M9.900 6.100l-3.800 3.800")); },
  aborted: (c) => { c.stroke(new Path2D("M8 1.750a6.250 6.250 0 1 0 .01 0z")); c.lineWidth = 2.2; c.stroke(new Path2D("M4.800 8h6.400")); },
  skipped: (c) => { c.stroke(new Path2D("M2 10.500c1.500-5 8-6 10.500-1.200M13.400 5.600v4.400H9")); c.fill(new Path2D("M7.500 10.600a1.400 1.400 0 1 0 .01 0z")); },
  paused: (c) => { c.lineWidth = 2.5; c.stroke(new Path2D("M5.500 3.500v9M10.500 3.500v9")); },
  parked: (c) => { c.stroke(square); c.stroke(new Path2D("M3.500 12.500l9-9M3.500 3.500l9 9")); },
};

// Pen draws with the colours of the present theme.
export class Pen {
  constructor(ratio) {
    this.ink = colours();
    this.ratio = ratio;
    this.marks = new Map();
    this.texts = new Map();
    this.family = getComputedStyle(document.documentElement).getPropertyValue("--f-text");
    this.code = getComputedStyle(document.documentElement).getPropertyValue("--f-code");
  }

  // mark returns the picture of a status of 16 points at a scale.
  mark(status, scale) {
    const size = Math.ceil(16 * scale * this.ratio), key = status * 1000 + size;
    let picture = this.marks.get(key);
    if (!picture) {
      picture = Object.assign(document.createElement("canvas"), { width: size, height: size });
      const c = picture.getContext("2d");
      const name = statuses[status];
      c.scale(size / 16, size / 16);
      c.strokeStyle = c.fillStyle = this.ink[inkOf[name]];
      c.lineWidth = 1.5;
      c.lineCap = c.lineJoin = "round";
      shapes[name](c, this.ink);
      this.marks.set(key, picture);
    }
    return picture;
  }

  // fit cuts a text so that it has a width in the present font: in the middle, where ends tell texts apart, or at its end.
  fit(c, text, width, middle) {
    const key = c.font + "|" + width + "|" + text;
    let fitting = this.texts.get(key);
    if (fitting !== undefined) return fitting;
    if (this.texts.size > 50_000) this.texts.clear();
    const chars = [...text.slice(0, 300).replace(/[\u0000-\u001f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd")];
    fitting = chars.join("");
    if (c.measureText(fitting).width > width) {
      let low = 0, high = chars.length;
      const cut = (n) => { const tail = middle ? Math.floor(n / 3) : 0; return chars.slice(0, n - tail).join("") + "…" + (tail ? chars.slice(-tail).join("") : ""); };
      while (low < high) {
        const n = (low + high + 1) >> 1;
        if (c.measureText(cut(n)).width <= width) low = n;
        else high = n - 1;
      }
      fitting = cut(low);
    }
    this.texts.set(key, fitting);
    return fitting;
  }
}
