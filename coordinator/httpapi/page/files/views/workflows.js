// The published workflows, and the versions of one.
import { html } from "../ui.js";
import { at, here, withQuery } from "../route.js";
import { may, query, word } from "../api.js";
import { age, ms, number } from "../time.js";
import { Empty, Fault, Link, Loading, Name, Time, useGet, useTitle } from "../parts.js";
import { Tree } from "../tree.js";
import { Draft } from "./draft.js";

export function Workflows({ parts }) {
  return parts[1] ? html`<${Workflow} key=${parts[1]} name=${parts[1]} />` : html`<${All} />`;
}

const runsOf = (name) => "/runs" + query({ q: "workflow:" + word(name) });

function All() {
  useTitle("Workflows");
  const cursor = here.value.query.get("cursor") || "";
  const { value, problem, again } = useGet("/v1/workflows" + query({ cursor, limit: "100" }));
  return html`<main class="view" id="main" tabindex="-1"><div class="page"><div class="head"><h1>Workflows</h1>${may("author") && html`<div class="end"><a class="btn" href="/publish">Publish…</a></div>`}</div>
    ${problem ? html`<${Fault} problem=${problem} again=${again} />` : !value ? html`<div class="sheet"><${Loading} /></div>` : !value.items.length
      ? html`<div class="sheet"><${Empty} title="No workflow is published">A published workflow can be started by its name: here, from a terminal, and by other programs. <code>sluice publish order.yaml</code><//></div>`
      : html`<div class="sheet"><table class="list plain"><thead><tr><th scope="col">Name</th><th scope="col" class="num">Version</th><th scope="col">Hash</th><th scope="col">Published</th><th scope="col">By</th><th scope="col"><span class="vh">Acts</span></th></tr></thead>
      <tbody>${value.items.map((v) => html`<tr key=${v.name}><td class="cut"><${Link} class="id" data-row href=${at("workflows", v.name)}><${Name} text=${v.name} max=${48} /><//></td><td class="num q">${number(v.number)}</td><td class="code q">${v.hash.slice(0, 6)}</td>
        <td class="q"><time title=${v.at}>${age(ms(v.at))} ago</time></td><td class="q cut"><bdi>${v.actor}</bdi></td><td class="num"><a href=${runsOf(v.name)}>Runs</a>${may("operator") && html`<a class="gap" href=${at("start", v.name)}>Start…</a>`}</td></tr>`)}</tbody></table>
      ${value.next && html`<div class="foot"><a href=${withQuery({ cursor: value.next })}>More</a></div>`}</div>`}</div></main>`;
}

function Workflow({ name }) {
  useTitle(name.slice(0, 100));
  const newest = useGet("/v1/workflows/" + encodeURIComponent(name));
  const chosen = here.value.query.get("version") || "";
  const one = useGet(chosen ? `/v1/workflows/${encodeURIComponent(name)}/versions/${encodeURIComponent(chosen)}` : "");
  const versions = useGet(newest.value && `/v1/workflows/${encodeURIComponent(name)}/versions?limit=100`);
  const shown = chosen ? one : newest, v = shown.value?.version;
  if (newest.problem) return html`<main class="view" id="main" tabindex="-1"><div class="page"><div class="head"><h1><${Name} text=${name} max=${60} /></h1></div><${Fault} problem=${newest.problem} again=${newest.problem.status !== 404 && newest.again} /><p class="under"><a href="/workflows">All workflows</a></p></div></main>`;
  return html`<main class="view" id="main" tabindex="-1"><div class="page"><div class="head"><h1><${Name} text=${name} max=${48} /></h1>${v && html`<span class="q">version ${number(v.number)} <span class="code small">${v.hash.slice(0, 6)}</span></span>`}
    <div class="end"><a class="btn" href=${runsOf(name)}>Runs</a>${may("author") && html`<a class="btn" href=${"/publish" + query({ from: name })}>Publish a new version…</a>`}${may("operator") && html`<a class="btn pri" href=${at("start", name)}>Start a run</a>`}</div></div>
    <div class="two-col"><section class="sheet drawn-s">${v ? html`<${Draft} key=${v.hash} path=${`/v1/workflows/${encodeURIComponent(name)}/versions/${v.hash}/layout`} />` : html`<${Loading} />`}</section>
    <div class="col"><section class="sheet"><div class="sec"><h2>Versions</h2></div>${!versions.value ? html`<${Loading} rows=${3} />` : html`<table class="list plain"><tbody data-stay>${versions.value.items.map((x) => html`<tr key=${x.number} class=${x.hash === v?.hash ? "chosen" : ""}><td class="num">${number(x.number)}</td>
      <td class="code"><a class="id" data-row href=${withQuery({ version: x.hash })} aria-current=${x.hash === v?.hash ? "true" : undefined}>${x.hash.slice(0, 12)}</a></td><td class="q"><${Time} at=${x.at} /></td><td class="q cut"><bdi>${x.actor}</bdi></td></tr>`)}</tbody></table>`}</section>
    <section class="sheet"><details class="sec fold" open><summary><h3>Document</h3></summary>${shown.value ? html`<${Tree} value=${shown.value.document} open=${2} />` : html`<${Loading} rows=${3} />`}</details></section></div></div></div></main>`;
}
