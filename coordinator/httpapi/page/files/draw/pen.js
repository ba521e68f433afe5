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

const square = new Path2D("M4.75 2.75h6.5a2 2 0 0 1 2 2v6.5a2 2 0 0 1-2 2h-6.5a2 2 0 0 1-2-2v-6.5a2 2 0 0 1 2-2z");
const shapes = {
  idle: (c) => { c.setLineDash([2, 1.75]); c.stroke(square); },
  waiting: (c) => { c.stroke(square); c.fillRect(5, 9, 6, 2); },
  ready: (c) => { c.stroke(new Path2D("M2.75 2v9.25a2 2 0 0 0 2 2h6.5a2 2 0 0 0 2-2V2")); c.fillRect(5, 4.5, 6, 6.5); },
  person: (c, k) => { c.fill(new Path2D("M4.5 2h7a2.5 2.5 0 0 1 2.5 2.5v7a2.5 2.5 0 0 1-2.5 2.5h-7A2.5 2.5 0 0 1 2 11.5v-7A2.5 2.5 0 0 1 4.5 2z")); c.fillStyle = k["on-solid"]; c.fill(new Path2D("M8 4.3a1.9 1.9 0 1 0 .01 0zM4.2 12.2c.3-2.2 1.7-3.3 3.8-3.3s3.5 1.1 3.8 3.3z")); },
  running: (c) => { c.stroke(new Path2D("M8 1.75a6.25 6.25 0 1 0 .01 0z")); c.save(); c.clip(new Path2D("M8 2.4a5.6 5.6 0 1 0 .01 0z")); c.fill(new Path2D("M0 8.5c2-1.6 4-1.6 6 0s2 1.6 4 0 2-1.6 4 0 2 1.6 4 0V16H0z")); c.restore(); },
  completed: (c, k) => { c.fill(new Path2D("M8 1a7 7 0 1 0 .01 0z")); c.strokeStyle = k["on-solid"]; c.lineWidth = 1.7; c.stroke(new Path2D("M4.8 8.3l2.2 2.2 4.2-4.6")); },
  failed: (c, k) => { c.fill(new Path2D("M8 .2 15.8 8 8 15.8.2 8z")); c.strokeStyle = k["on-solid"]; c.lineWidth = 1.35; c.stroke(new Path2D("M6.1 6.1l3.8 3.8M9.9 6.1l-3.8 3.8")); },
  aborted: (c) => { c.stroke(new Path2D("M8 1.75a6.25 6.25 0 1 0 .01 0z")); c.lineWidth = 2.2; c.stroke(new Path2D("M4.8 8h6.4")); },
  skipped: (c) => { c.stroke(new Path2D("M2 10.5c1.5-5 8-6 10.5-1.2M13.4 5.6v4.4H9")); c.fill(new Path2D("M7.5 10.6a1.4 1.4 0 1 0 .01 0z")); },
  paused: (c) => { c.lineWidth = 2.5; c.stroke(new Path2D("M5.5 3.5v9M10.5 3.5v9")); },
  parked: (c) => { c.stroke(square); c.stroke(new Path2D("M3.5 12.5l9-9M3.5 3.5l9 9")); },
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

  // fit cuts a text to a width in the present font: in the middle if the ends distinguish texts, else at the end.
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
