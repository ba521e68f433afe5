// The critical path: the chain of steps that determined the length of a run. From the step that ended last it goes back, each time to the
// latest end among the steps before it that had ended when it began. A node without a time of its own, such as a join, is passed through.

// criticalPath returns the keys of the rows on it. Rows are {step, from, to}; before(key) returns the keys of the nodes before a node of
// the drawing, and nodeOf(step) the node that a step is part of.
export function criticalPath(rows, before, nodeOf) {
  const within = new Map();
  for (const r of rows) {
    const node = nodeOf(r.step);
    if (!within.has(node)) within.set(node, []);
    within.get(node).push(r);
  }
  const later = (a, b) => (!a || b.to > a.to || (b.to === a.to && b.from >= a.from) ? b : a);
  const path = [], seen = new Set();
  for (let at = rows.reduce(later, null); at && !seen.has(at); at = last(at)) {
    seen.add(at);
    path.unshift(at.step);
  }
  return path;

  function last(row) {
    const nodes = [...before(nodeOf(row.step))], passed = new Set(nodes);
    let found = null;
    for (let node; (node = nodes.pop()) !== undefined;) {
      const inside = within.get(node);
      if (inside) found = inside.filter((r) => r.to <= row.from).reduce(later, found);
      else for (const n of before(node)) if (!passed.has(n)) { passed.add(n); nodes.push(n); }
    }
    return found;
  }
}
