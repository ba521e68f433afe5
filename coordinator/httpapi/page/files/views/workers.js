// The workers, and the operations that they serve.
import { html, useEffect, useState } from "../ui.js";
import { age, ms, number } from "../time.js";
import { Empty, Fault, Loading, Name, Time, useGet, useTitle } from "../parts.js";

export function Workers() {
  useTitle("Workers");
  const [turn, setTurn] = useState(0);
  const { value, problem, again } = useGet("/v1/workers", turn);
  const none = problem?.status === 409; // and there will be none
  useEffect(() => { const timer = setInterval(() => { if (!document.hidden && !none) setTurn((n) => n + 1); }, 5000); return () => clearInterval(timer); }, [none]);
  return html`<main class="view" id="main" tabindex="-1"><div class="page"><div class="head"><h1>Workers</h1></div>
    ${problem && !value ? html`<${Fault} problem=${problem} again=${again} />` : !value ? html`<div class="sheet"><${Loading} /></div>` : html`
    <div class="sheet">${!value.workers.length ? html`<${Empty} title="No worker is there">An operation that no document binds is carried out by a worker: any program that asks this server for calls. Until a worker comes, its steps are ready, and show since when.<//>` : html`<table class="list plain wk"><thead><tr><th scope="col">Worker</th><th scope="col">Token</th><th scope="col" class="num">Calls</th><th scope="col">Serves</th><th scope="col" class="num">Seen</th></tr></thead>
      <tbody>${value.workers.map((w) => html`<tr key=${w.token + " " + w.name}><td class="mid cut"><${Name} text=${w.name} max=${40} /></td><td class="q cut"><bdi>${w.token}</bdi></td><td class="num">${number(w.calls)}<span class="only-n"> ${w.calls === 1 ? "call" : "calls"}</span></td><td class="cut"><bdi>${w.operations.slice(0, 12).join(", ")}</bdi></td><td class="num q">${w.waits ? "waits now" : age(ms(w.seen)) + " ago"}</td></tr>`)}</tbody></table>`}</div>
    ${value.operations.length > 0 && html`<div class="head under"><h2>Operations</h2></div><div class="sheet"><table class="list plain op"><thead><tr><th scope="col">Operation</th><th scope="col">Served</th><th scope="col" class="num">Runs that wait</th><th scope="col" class="num">Calls asked again</th><th scope="col" class="num">Oldest</th></tr></thead>
      <tbody>${value.operations.map((o) => html`<tr key=${o.name}><td class="code cut"><bdi>${o.name}</bdi></td><td>${o.unserved ? html`<span class="st s-person">no worker since${" "}<${Time} at=${o.unserved} /></span>` : html`<span class="st s-completed">served</span>`}</td><td class="num">${number(o.runs)}<span class="only-n"> waiting</span></td><td class="num q">${number(o.calls)}</td><td class="num q">${o.since ? age(ms(o.since)) : ""}</td></tr>`)}</tbody></table></div>`}`}</div></main>`;
}

