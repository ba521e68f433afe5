// A drawing of a workflow, indexed by place, so that the nodes and lines near a point or in a rectangle are found without a search
// through all.
const cell = 512; // points

export class Scene {
  constructor(drawing) {
    this.width = drawing.width;
    this.height = drawing.height;
    this.keys = drawing.keys;
    this.labels = drawing.labels;
    this.kinds = drawing.kinds;
    this.operations = drawing.operations;
    this.boxes = Int32Array.from(drawing.boxes);
    this.from = Int32Array.from(drawing.from);
    this.to = Int32Array.from(drawing.to);
    this.words = drawing.words;
    this.points = drawing.points;
    this.light = new Uint8Array(this.from.length);
    for (const e of drawing.light) this.light[e] = 1;
    this.count = this.keys.length;
    this.index = new Map(this.keys.map((key, i) => [key, i]));
    this.columns = Math.max(1, Math.ceil(this.width / cell));
    this.rows = Math.max(1, Math.ceil(this.height / cell));
    this.nodeCells = Array.from({ length: this.columns * this.rows }, () => []);
    this.edgeCells = Array.from({ length: this.columns * this.rows }, () => []);
    this.seenNode = new Uint32Array(this.count);
    this.seenEdge = new Uint32Array(this.from.length);
    this.turn = 0;
    this.after = Array.from({ length: this.count }, () => []);
    this.before = Array.from({ length: this.count }, () => []);
    for (let i = 0; i < this.count; i++) this.#put(this.nodeCells, i, this.boxes[4 * i], this.boxes[4 * i + 1], this.boxes[4 * i] + this.boxes[4 * i + 2], this.boxes[4 * i + 1] + this.boxes[4 * i + 3]);
    this.points.forEach((p, e) => {
      this.after[this.from[e]].push(this.to[e]);
      this.before[this.to[e]].push(this.from[e]);
      for (let k = 0; k + 3 < p.length; k += 2) this.#put(this.edgeCells, e, Math.min(p[k], p[k + 2]), Math.min(p[k + 1], p[k + 3]), Math.max(p[k], p[k + 2]), Math.max(p[k + 1], p[k + 3]));
    });
  }

  #put(cells, what, x0, y0, x1, y1) {
    this.#each(x0, y0, x1, y1, (at) => { const c = cells[at]; if (c[c.length - 1] !== what) c.push(what); });
  }

  #each(x0, y0, x1, y1, take) {
    const c0 = Math.max(0, Math.floor(x0 / cell)), c1 = Math.min(this.columns - 1, Math.floor(x1 / cell));
    const r0 = Math.max(0, Math.floor(y0 / cell)), r1 = Math.min(this.rows - 1, Math.floor(y1 / cell));
    for (let r = r0; r <= r1; r++) for (let c = c0; c <= c1; c++) take(r * this.columns + c);
  }

  // within calls takeNode and takeEdge once with each that may be in a rectangle.
  within(x0, y0, x1, y1, takeNode, takeEdge) {
    const turn = ++this.turn;
    if (takeEdge) this.#each(x0, y0, x1, y1, (at) => { for (const e of this.edgeCells[at]) if (this.seenEdge[e] !== turn) { this.seenEdge[e] = turn; takeEdge(e); } });
    this.#each(x0, y0, x1, y1, (at) => { for (const i of this.nodeCells[at]) if (this.seenNode[i] !== turn) { this.seenNode[i] = turn; takeNode(i); } });
  }

  // at returns the node at a point, or -1.
  at(x, y) {
    let found = -1;
    this.within(x, y, x, y, (i) => {
      const b = 4 * i;
      if (x >= this.boxes[b] && x <= this.boxes[b] + this.boxes[b + 2] && y >= this.boxes[b + 1] && y <= this.boxes[b + 1] + this.boxes[b + 3]) found = i;
    });
    return found;
  }

  // next returns the node to which an arrow key leads.
  next(i, key) {
    if (key === "ArrowDown") return this.after[i][0] ?? i;
    if (key === "ArrowUp") return this.before[i][0] ?? i;
    const x = this.boxes[4 * i], y = this.boxes[4 * i + 1], to = key === "ArrowRight" ? 1 : -1;
    let best = i, far = Infinity;
    for (let j = 0; j < this.count; j++) {
      const d = (this.boxes[4 * j] - x) * to;
      if (d > 0 && Math.abs(this.boxes[4 * j + 1] - y) < 20 && d < far) { best = j; far = d; }
    }
    return best;
  }
}
