// The graph of a run on a canvas. Near: boxes with marks and texts; farther: boxes and lines; farthest: a picture in which only changes
// are drawn again. It draws after a change, and only the visible part.
import { statuses } from "../mark.js";
import { Pen, inkOf } from "./pen.js";

const near = 0.55, far = 0.16; // scales at which the level of detail changes
const boxHeight = 40; // of a step; above it is the basin before its gate
const pictureMax = 1600; // points of the picture's longer side
const code = Object.fromEntries(statuses.map((s, i) => [s, i]));
const soft = { running: "water-soft", failed: "fail-soft", person: "person-soft" };

export class Graph {
  scale = 1;
  x = 0; // of the drawing at the left edge
  y = 0;
  selected = -1;
  found = new Set();
  taken = null; // of a playbook: the lines by which tokens went; otherwise they follow from the statuses
  plain = false; // without marks: there is no run
  onView = () => {};
  #frame = 0;
  #idle = 0;
  #picture = null;
  #pictureOld = true;
  #pictureInk = null; // the colours that it has
  #drawn = null; // the statuses that it shows
  #thumb = null;
  #thumbOld = true;
  #thumbAt = 0;
  #fitted = null; // whether all of it is shown; null: a person has moved it

  // look returns the status of a node as a number, note its second line, and moved when it has last changed.
  constructor(canvas, scene, look, note, moved) {
    Object.assign(this, { canvas, scene, look, note, moved });
    this.context = canvas.getContext("2d");
    this.resize();
  }

  resize() {
    const ratio = Math.min(2, devicePixelRatio || 1), box = this.canvas.getBoundingClientRect();
    this.w = box.width;
    this.h = box.height;
    this.ratio = ratio;
    this.canvas.width = Math.max(1, Math.round(box.width * ratio));
    this.canvas.height = Math.max(1, Math.round(box.height * ratio));
    this.pen = new Pen(ratio);
    this.#thumb = null; // it may have other colours
    if (this.#fitted !== null) this.fit(this.#fitted);
    this.change();
  }

  // change draws again in the next frame: a status has changed.
  change() {
    this.#pictureOld = this.#thumbOld = true;
    this.draw();
  }

  draw() {
    if (!this.#frame) this.#frame = requestAnimationFrame(() => { this.#frame = 0; this.#paint(); });
  }

  // watch draws anew when the canvas has another size, or the page another theme, until the function that it returns is called. The size is
  // read in a separate frame: an observer that changes its own target makes the browser complain.
  watch() {
    let frame = 0;
    const anew = () => { frame ||= requestAnimationFrame(() => { frame = 0; this.resize(); }); };
    const sizes = new ResizeObserver(anew), dark = matchMedia("(prefers-color-scheme: dark)");
    sizes.observe(this.canvas);
    dark.addEventListener("change", anew);
    addEventListener("themechange", anew);
    return () => {
      sizes.disconnect();
      dark.removeEventListener("change", anew);
      removeEventListener("themechange", anew);
      cancelAnimationFrame(frame);
      cancelAnimationFrame(this.#frame);
      clearTimeout(this.#idle);
    };
  }

  // fit shows all of it, or as much as can be read of the top.
  fit(whole) {
    const s = this.scene, all = Math.min(1, (this.w - 48) / Math.max(1, s.width), (this.h - 40) / Math.max(1, s.height));
    this.scale = whole ? all : Math.max(all, Math.min(1, 0.6));
    this.x = (s.width - this.w / this.scale) / 2;
    this.y = -24 / this.scale;
    this.moveTo(this.x, this.y);
    this.#fitted = whole;
  }

  moveTo(x, y) {
    this.#fitted = null;
    const s = this.scene, slackX = this.w / this.scale - 80 / this.scale, slackY = this.h / this.scale - 60 / this.scale;
    this.x = Math.max(-slackX, Math.min(s.width + slackX - this.w / this.scale, x));
    this.y = Math.max(-slackY, Math.min(s.height + slackY - this.h / this.scale, y));
    this.draw();
  }

  zoom(by, px = this.w / 2, py = this.h / 2) {
    const to = Math.max(0.02, Math.min(2, this.scale * by));
    const x = this.x + px / this.scale, y = this.y + py / this.scale;
    this.scale = to;
    this.moveTo(x - px / to, y - py / to);
  }

  // show moves the view so that a node is in it, and no farther than necessary.
  show(i, read) {
    if (read && this.scale < near) this.scale = 1;
    const b = this.scene.boxes, w = this.w / this.scale, h = this.h / this.scale;
    const x = b[4 * i] + b[4 * i + 2] / 2, y = b[4 * i + 1] + b[4 * i + 3] / 2;
    const mx = Math.min(b[4 * i + 2] / 2 + 16, w / 2), my = Math.min(b[4 * i + 3] / 2 + 16, h / 2);
    let nx = this.x, ny = this.y;
    if (x < this.x + mx || x > this.x + w - mx) nx = x - w / 2;
    if (y < this.y + my || y > this.y + h - my) ny = y - h / 2;
    if (nx !== this.x || ny !== this.y) this.moveTo(nx, ny);
    else this.draw();
  }

  nodeAt(px, py) { return this.scene.at(this.x + px / this.scale, this.y + py / this.scale); }

  #paint() {
    const c = this.context, k = this.scale * this.ratio, ink = this.pen.ink;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.fillStyle = ink.paper;
    c.fillRect(0, 0, this.canvas.width, this.canvas.height);
    c.setTransform(k, 0, 0, k, -this.x * k, -this.y * k);
    if (this.scale < far && this.scene.count > 400) this.#paintPicture(c);
    else this.#paintNodes(c);
    this.onView();
  }

  #paintNodes(c) {
    const s = this.scene, w = this.w / this.scale, h = this.h / this.scale, nodes = [], edges = [];
    s.within(this.x, this.y, this.x + w, this.y + h, (i) => nodes.push(i), (e) => edges.push(e));
    const detail = this.scale >= near;
    this.#paintEdges(c, edges, detail);
    const now = performance.now();
    let moving = false;
    for (const i of nodes) {
      const age = now - this.moved(i);
      if (age < 2000) moving = true;
      if (detail) this.#paintNode(c, i, age);
      else this.#paintBox(c, i, this.look(i));
    }
    for (const i of nodes) if (i === this.selected || this.found.has(i)) this.#ring(c, i);
    if (moving) this.#later(120, () => this.draw());
  }

  #later(delay, act) {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(act, delay);
  }

  #paintEdges(c, edges, detail) {
    const s = this.scene, ink = this.pen.ink;
    const groups = { dry: [], by: [], wet: [] };
    for (const e of edges) {
      const from = this.look(s.from[e]), to = this.look(s.to[e]);
      const done = from === code.completed || (s.kinds[s.from[e]] === "j" && to !== code.idle);
      if (this.taken) groups[this.taken.has(e) ? "wet" : "dry"].push(e);
      else groups[from === code.skipped && to !== code.idle ? "by" : done && to !== code.skipped ? "wet" : "dry"].push(e);
    }
    c.lineJoin = "round";
    for (const [name, list] of Object.entries(groups)) {
      if (!list.length) continue;
      c.strokeStyle = c.fillStyle = name === "dry" ? ink.edge : ink["water-line"];
      c.lineWidth = name === "wet" ? 2 : name === "by" ? 1.5 : 1;
      if (!detail) c.lineWidth = Math.max(c.lineWidth * 0.8, 0.7 / this.scale);
      c.setLineDash(name === "by" ? [1.5, 3.5] : []);
      c.beginPath();
      for (const e of list) this.#trace(c, s.points[e], detail);
      c.stroke();
      c.setLineDash([]);
      if (!detail) continue;
      c.beginPath();
      for (const e of list) {
        const p = s.points[e], x = p[p.length - 2], y = p[p.length - 1], up = p.length > 3 && p[p.length - 3] > y ? -1 : 1;
        if (s.kinds[s.to[e]] === "j") continue;
        c.moveTo(x - 4, y - 5 * up);
        c.lineTo(x + 4, y - 5 * up);
        c.lineTo(x, y);
      }
      c.fill();
    }
    if (detail) this.#words(c, edges);
  }

  // words are written at the ends of lines that are not always taken.
  #words(c, edges) {
    const s = this.scene, ink = this.pen.ink;
    c.font = "11px " + this.pen.family;
    c.textBaseline = "middle";
    c.textAlign = "center";
    for (const e of edges) {
      if (!s.words[e]) continue;
      const gate = s.kinds[s.from[e]] === "c", p = s.points[e];
      const text = gate ? (s.words[e].startsWith("if ") ? "yes" : "no") : this.pen.fit(c, s.words[e], 132, false);
      const x = p[p.length - 2], y = p[p.length - 1] - 12;
      const width = c.measureText(text).width + 6;
      c.fillStyle = ink.paper;
      c.fillRect(x - width / 2, y - 7, width, 14);
      c.fillStyle = gate ? ink.water : ink["ink-2"];
      c.fillText(text, x, y);
    }
    c.textAlign = "left";
  }

  #trace(c, p, round) {
    c.moveTo(p[0], p[1]);
    for (let i = 2; i < p.length - 2; i += 2) {
      if (!round) { c.lineTo(p[i], p[i + 1]); continue; }
      const r = Math.min(6, (Math.abs(p[i] - p[i - 2]) + Math.abs(p[i + 1] - p[i - 1])) / 2, (Math.abs(p[i + 2] - p[i]) + Math.abs(p[i + 3] - p[i + 1])) / 2);
      c.arcTo(p[i], p[i + 1], p[i + 2], p[i + 3], r);
    }
    c.lineTo(p[p.length - 2], p[p.length - 1]);
  }

  #paintBox(c, i, status) {
    const s = this.scene, ink = this.pen.ink, b = 4 * i, name = statuses[status];
    c.fillStyle = ["completed", "idle", "skipped", "waiting"].includes(name) ? (name === "completed" ? ink.edge : ink.sunk) : ink[inkOf[name]];
    c.strokeStyle = ink[inkOf[name]];
    c.lineWidth = Math.max(1, 0.8 / this.scale);
    c.fillRect(s.boxes[b], s.boxes[b + 1], s.boxes[b + 2], s.boxes[b + 3]);
    if (name !== "completed") c.strokeRect(s.boxes[b], s.boxes[b + 1], s.boxes[b + 2], s.boxes[b + 3]);
  }

  #paintNode(c, i, age) {
    const s = this.scene, ink = this.pen.ink, b = 4 * i, kind = s.kinds[i];
    const x = s.boxes[b], w = s.boxes[b + 2];
    let y = s.boxes[b + 1], h = s.boxes[b + 3];
    const status = this.look(i), name = statuses[status];
    if (kind === "j") {
      c.fillStyle = status === code.completed ? ink["water-line"] : ink.edge;
      c.beginPath();
      c.arc(x + w / 2, y + h / 2, 3, 0, 7);
      c.fill();
      return;
    }
    if (kind === "c") return this.#paintGate(c, i, x, y, w, h, name);
    if (h > boxHeight) {
      this.#paintBasin(c, i, x, y, w, h - boxHeight, this.plain ? {} : this.note(i, name));
      y += h - boxHeight;
      h = boxHeight;
    }
    c.fillStyle = ink[soft[name]] || (["idle", "aborted", "skipped"].includes(name) ? ink.paper : ink.sheet);
    c.strokeStyle = { running: ink.water, ready: ink.water, failed: ink["fail-solid"], person: ink.person, aborted: ink.gone, skipped: ink.line }[name] || ink.edge;
    c.lineWidth = ["running", "ready", "failed", "person"].includes(name) ? 1.5 : 1;
    c.setLineDash(name === "idle" ? [2, 2.5] : name === "aborted" ? [5, 3] : []);
    if (kind === "m") {
      c.beginPath();
      c.roundRect(x + 4, y + 4, w - 8, h, 5);
      c.stroke();
    }
    c.beginPath();
    c.roundRect(x, y, w, h, 6);
    c.fill();
    c.stroke();
    c.setLineDash([]);
    const left = this.plain ? 12 : 32;
    if (!this.plain) c.drawImage(this.pen.mark(status, this.scale), x + 9, y + h / 2 - 8, 16, 16);
    const note = this.note(i, name);
    const dim = ["idle", "aborted", "skipped"].includes(name);
    c.fillStyle = dim ? ink["ink-2"] : ink.ink;
    c.font = "500 12px " + this.pen.family;
    c.textBaseline = "alphabetic";
    const barred = Boolean(note.bar), base = note.text ? y + (barred ? 15 : 17) : y + h / 2 + 4;
    const room = w - left - 10 - (note.live ? this.#paintTokens(c, x + w - 10, y + h / 2, note.live, ink.water) : 0);
    c.fillText(this.pen.fit(c, s.keys[i], room, true), x + left, base);
    if (note.text) {
      c.fillStyle = ink["ink-2"];
      c.font = "11px " + this.pen.family;
      c.fillText(this.pen.fit(c, note.text, room, false), x + left, base + (barred ? 13 : 14));
    }
    if (barred) this.#paintBar(c, x + 32, y + h - 7, w - 44, note.bar);
    if (name === "failed") this.#paintShut(c, x + w / 2, y + h);
    if (age < 2000) {
      c.globalAlpha = Math.min(1, (2000 - age) / 180);
      c.strokeStyle = ink["water-line"];
      c.lineWidth = 3;
      c.beginPath();
      c.roundRect(x - 3, y - 3, w + 6, h + 6, 8);
      c.stroke();
      c.globalAlpha = 1;
    }
  }

  // paintTokens draws tokens as dots that end at a place, and returns how wide they are. More than five are a number beside one dot.
  #paintTokens(c, right, y, n, colour) {
    const dots = n > 5 ? 1 : n;
    const old = c.fillStyle;
    c.fillStyle = colour;
    let x = right;
    if (n > 5) {
      c.textAlign = "right";
      c.fillText(String(n), x, y + 4);
      x -= c.measureText(String(n)).width + 4;
      c.textAlign = "left";
    }
    for (let k = 0; k < dots; k++, x -= 12) {
      c.beginPath();
      c.arc(x - 5, y, 4.5, 0, 7);
      c.fill();
    }
    c.fillStyle = old;
    return right - x + 4;
  }

  // paintBasin draws the tokens before the gate of a step as water: the more tokens, the higher.
  #paintBasin(c, i, x, y, w, h, { held = 0 }) {
    const ink = this.pen.ink, bottom = y + h - 8, full = h - 32, mid = x + w / 2;
    if (held) {
      const top = bottom - Math.min(full, 18 + 4 * held);
      c.fillStyle = ink["water-soft"];
      c.strokeStyle = ink.water;
      c.lineWidth = 1.5;
      c.beginPath();
      c.moveTo(x + 1, top);
      for (let k = 0; k < 4; k++) c.quadraticCurveTo(x + 1 + (w - 2) * (k + 0.5) / 4, top + (k % 2 ? 5 : -5), x + 1 + (w - 2) * (k + 1) / 4, top);
      c.stroke();
      c.lineTo(x + w - 1, bottom);
      c.lineTo(x + 1, bottom);
      c.fill();
      c.font = "11px " + this.pen.family;
      c.textBaseline = "alphabetic";
      this.#paintTokens(c, mid + (held > 5 ? 16 : held * 6), bottom - 13, held, ink.still);
    }
    c.strokeStyle = c.fillStyle = ink["ink-2"];
    c.lineWidth = 2;
    c.beginPath();
    c.moveTo(x, y + 2);
    c.lineTo(x, bottom);
    c.lineTo(mid - 17, bottom);
    c.moveTo(mid + 17, bottom);
    c.lineTo(x + w, bottom);
    c.lineTo(x + w, y + 2);
    c.stroke();
    c.fillRect(mid - 18, bottom - 6, 3, 14);
    c.fillRect(mid + 15, bottom - 6, 3, 14);
    const open = !held && !this.plain && this.look(i) !== code.idle;
    c.fillStyle = open ? ink.done : ink.still;
    c.fillRect(mid - 15, bottom - (open ? 10 : 3), 30, 6);
    c.fillStyle = ink.ink;
    c.font = "11px " + this.pen.code;
    c.textBaseline = "middle";
    c.fillText(this.pen.fit(c, this.scene.labels[i].replace(/^allow if /, "").replace(/, else deny$/, ""), w - 16, false), x + 8, y + 12);
  }

  #paintGate(c, i, x, y, w, h, name) {
    const ink = this.pen.ink, open = name === "completed";
    c.fillStyle = ink.sheet;
    c.strokeStyle = ink.line;
    c.lineWidth = 1;
    c.setLineDash(name === "idle" ? [2, 2.5] : []);
    c.beginPath();
    c.roundRect(x, y, w, h, h / 2);
    c.fill();
    c.stroke();
    c.setLineDash([]);
    const gx = x + 14, gy = y + h / 2 - 8;
    c.fillStyle = ink["ink-2"];
    c.fillRect(gx, gy, 3, 16);
    c.fillRect(gx + 15, gy, 3, 16);
    c.fillStyle = open ? ink.water : ink.still;
    c.fillRect(gx + 3, open ? gy + 1 : gy + 8, 12, 6);
    c.fillStyle = ink.ink;
    c.font = "11px " + this.pen.code;
    c.textBaseline = "middle";
    c.fillText(this.pen.fit(c, this.scene.labels[i] || this.scene.keys[i], w - 52, false), x + 40, y + h / 2 + 0.5);
  }

  #paintBar(c, x, y, w, { ok, failed, moving, of }) {
    const ink = this.pen.ink, at = (n) => (w * n) / Math.max(1, of);
    c.fillStyle = ink.sunk;
    c.fillRect(x, y, w, 3);
    c.fillStyle = ink.done;
    c.fillRect(x, y, at(ok), 3);
    let end = x + at(ok);
    if (failed) {
      c.fillStyle = ink["fail-solid"];
      const wide = Math.max(3, at(failed));
      c.fillRect(end, y - 1.5, wide, 6);
      end += wide;
    }
    if (moving) {
      c.fillStyle = ink.water;
      c.fillRect(end + 1, y + 0.75, Math.max(4, at(moving)), 1.5);
    }
  }

  // paintShut draws the shut gate below a step that has failed.
  #paintShut(c, x, y) {
    const ink = this.pen.ink;
    c.fillStyle = ink["ink-2"];
    c.fillRect(x - 14, y + 3, 3, 9);
    c.fillRect(x + 11, y + 3, 3, 9);
    c.fillStyle = ink["fail-solid"];
    c.fillRect(x - 11, y + 5, 22, 5);
  }

  #ring(c, i) {
    const b = 4 * i, s = this.scene, ink = this.pen.ink;
    c.strokeStyle = i === this.selected ? ink.ink : ink.focus;
    c.lineWidth = Math.max(2, 2 / this.scale);
    c.beginPath();
    c.roundRect(s.boxes[b] - 4, s.boxes[b + 1] - 4, s.boxes[b + 2] + 8, s.boxes[b + 3] + 8, 9);
    c.stroke();
  }

  // picture returns all nodes and lines as one image. It is made once for a theme; then only nodes with another status are drawn again.
  picture() {
    const s = this.scene, k = Math.min(1, pictureMax / Math.max(s.width, s.height, 1)), ink = this.pen.ink, least = 1 / k;
    if (!this.#picture || this.#pictureInk !== ink) {
      this.#picture = Object.assign(document.createElement("canvas"), { width: Math.max(1, Math.ceil(s.width * k)), height: Math.max(1, Math.ceil(s.height * k)) });
      this.#pictureInk = ink;
      this.#drawn = new Uint8Array(s.count).fill(255);
      this.#pictureOld = true;
      const c = this.#picture.getContext("2d");
      c.setTransform(k, 0, 0, k, 0, 0);
      if (s.from.length < 30_000) {
        c.strokeStyle = ink.line;
        c.lineWidth = least * 0.6;
        c.beginPath();
        for (const p of s.points) this.#trace(c, p, false);
        c.stroke();
      }
    }
    if (!this.#pictureOld) return this.#picture;
    this.#pictureOld = false;
    const c = this.#picture.getContext("2d");
    const loud = (status) => status === code.failed || status === code.person;
    for (let i = 0; i < s.count; i++) {
      const status = this.look(i), was = this.#drawn[i];
      if (status === was) continue;
      this.#drawn[i] = status;
      const b = 4 * i, name = statuses[status], grow = loud(status) || loud(was) ? least : 0;
      const w = Math.max(least, s.boxes[b + 2]), h = Math.max(least, s.boxes[b + 3]);
      if (grow) c.clearRect(s.boxes[b] - grow, s.boxes[b + 1] - grow, w + 2 * grow, h + 2 * grow);
      const more = loud(status) ? least : 0;
      c.fillStyle = name === "completed" ? ink.edge : name === "idle" || name === "skipped" ? ink.line : ink[inkOf[name]];
      c.fillRect(s.boxes[b] - more, s.boxes[b + 1] - more, w + 2 * more, h + 2 * more);
    }
    return this.#picture;
  }

  // thumb returns the picture at a size, at most a quarter of a second old, since it is drawn in each frame.
  thumb(width, height) {
    const now = performance.now(), fits = this.#thumb?.width === Math.max(1, Math.ceil(width));
    if (fits && this.#thumbOld && now - this.#thumbAt < 250) this.#later(250, () => this.draw());
    else if (!fits || this.#thumbOld) {
      if (!fits) this.#thumb = Object.assign(document.createElement("canvas"), { width: Math.max(1, Math.ceil(width)), height: Math.max(1, Math.ceil(height)) });
      this.#thumbOld = false;
      this.#thumbAt = now;
      const c = this.#thumb.getContext("2d");
      c.imageSmoothingQuality = "high";
      c.clearRect(0, 0, this.#thumb.width, this.#thumb.height);
      c.drawImage(this.picture(), 0, 0, this.#thumb.width, this.#thumb.height);
    }
    return this.#thumb;
  }

  #paintPicture(c) {
    c.drawImage(this.picture(), 0, 0, this.scene.width, this.scene.height);
    if (this.selected >= 0) this.#ring(c, this.selected);
    for (const i of this.found) this.#ring(c, i);
  }
}
