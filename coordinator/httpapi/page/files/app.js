// The frame of the page: top bar, navigation, keys, and the view that the address names.
import { computed, effect, html, render, signal, useEffect, useLayoutEffect, useState } from "./ui.js";
import { go, here } from "./route.js";
import { get, inOrder, known, leave, may, me, post, Problem, remove } from "./api.js";
import { again, follow, shared, signedIn, stale } from "./feed.js";
import { Sprite } from "./mark.js";
import { clock, number, zone } from "./time.js";
import { forgetAll } from "./typed.js";
import { Dialog, Fault, focus, plain, useTitle } from "./parts.js";
import { Runs } from "./views/runs.js";
import { Run } from "./views/run.js";
import { Decisions } from "./views/decisions.js";
import { Workflows } from "./views/workflows.js";
import { Start } from "./views/start.js";
import { Workers } from "./views/workers.js";
import { Publish } from "./views/publish.js";

// asked is the number of runs that wait for a person; null while it is unknown.
export const asked = signal(null);

const views = { "": Runs, runs: (p) => (p.parts[1] ? html`<${Run} key=${p.parts[1]} id=${p.parts[1]} />` : html`<${Runs} />`), decisions: Decisions, workflows: Workflows, start: Start, publish: Publish, workers: Workers };

const places = [
  { path: "/runs", name: "Runs", key: "r", icon: "M2 4h12M2 8h12M2 12h7" },
  { path: "/decisions", name: "Decisions", key: "d", icon: "M4.5 2.5h7a2 2 0 0 1 2 2v7a2 2 0 0 1-2 2h-7a2 2 0 0 1-2-2v-7a2 2 0 0 1 2-2zM5.5 8.2l2 2 3.5-4" },
  { path: "/workflows", name: "Workflows", key: "w", icon: "M5.5 1.5h5v4h-5zM1.5 10.5h5v4h-5zM9.5 10.5h5v4h-5zM8 5.5v2.5M4 10.5V8h8v2.5" },
  { path: "/workers", name: "Workers", key: "k", icon: "M2.5 3.5h11v4h-11zM2.5 9.5h11v4h-11zM5 5.5h.01M5 11.5h.01" },
];

// A program's token is barred from the page.
const barred = signal(false);

// An observer sees neither inbox nor workers; a visitor who has not signed in sees only the login. Until the role is known, all places are shown.
const placesOf = () => (barred.value ? [] : !me.value || may("viewer") ? places : me.value.role ? places.filter((p) => p.key === "r" || p.key === "w") : []);

const place = computed(() => ({ start: "workflows", publish: "workflows" })[here.value.parts[0]] || here.value.parts[0] || "runs");

const Brand = () => html`<a class="brand" href="/runs"><svg viewBox="0 0 20 20" aria-hidden="true"><path class="post" d="M2 2h2.5v16H2zM15.5 2H18v16h-2.5z" /><path class="leaf" d="M5.5 3h9v6h-9z" /><path class="pool" d="M5.5 13.2c1.5-1.4 3-1.4 4.5 0s3 1.4 4.5 0V18h-9z" /></svg>sluice</a>`;

const waves = html`<svg viewBox="0 0 18 10" aria-hidden="true"><path d="M0 6c1.5-3.5 3-3.5 4.5 0S7.5 9.5 9 6s3-3.5 4.5 0 3 3.5 4.5 0" stroke-width="1.6" /></svg>`;

function Live() {
  if (!me.value?.role) return null;
  if (stale.value) return html`<span class="live off" role="status">${waves}stale since ${clock(stale.value)}</span>`;
  return html`<span class="live" role="status" title=${shared ? "One stream for all tabs" : "This tab has a stream of its own: other tabs open more"}>${waves}live</span>`;
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
  dispatchEvent(new Event("themechange"));
}

const current = (path) => (place.value === path.slice(1).split("/")[0] ? "page" : undefined);

const Badge = ({ path }) => path === "/decisions" && asked.value > 0 && html`<span class="n">${number(asked.value)}</span>`;

function Top() {
  return html`<header class="top"><${Brand} />
    <nav class="nav" aria-label="Main">${placesOf().map((p) => html`<a href=${p.path} aria-current=${current(p.path)}>${p.name}<${Badge} path=${p.path} /></a>`)}</nav>
    <div class="end"><${Live} />
      <button type="button" class="zone" onClick=${() => { zone.value = zone.value === "UTC" ? "local" : "UTC"; }}>${zone.value === "UTC" ? "UTC" : "local time"}</button>
      <button type="button" aria-label="Light or dark" onClick=${theme}><svg viewBox="0 0 16 16" aria-hidden="true"><circle cx="8" cy="8" r="5.5" fill="none" stroke="currentColor" stroke-width="1.5" /><path d="M8 2.5a5.5 5.5 0 0 1 0 11z" fill="currentColor" /></svg></button>
      ${me.value?.role && html`<span class="who"><bdi>${me.value.name}</bdi> · ${me.value.role}</span>`}
      ${me.value?.session && html`<button type="button" class="who" onClick=${() => remove("/v1/session").then(() => { forgetAll(); location.assign("/"); })}>Sign out</button>`}</div></header>`;
}

const BottomNav = () => placesOf().length > 0 && html`<nav class="bottomnav" aria-label="Places">${placesOf().map((p) =>
  html`<a href=${p.path} aria-current=${current(p.path)}><svg viewBox="0 0 16 16" aria-hidden="true"><path d=${p.icon} /></svg>${p.name}${p.path === "/decisions" && asked.value > 0 ? " " + number(asked.value) : ""}</a>`)}</nav>`;

function Stale() {
  if (!stale.value || me.value?.role === "") return null;
  return html`<div class="stale" role="alert">${waves}<span><b>Stale since ${clock(stale.value)}.</b> The server does not answer; it is asked again every second.</span>
    <div class="end"><button class="btn s" type="button" onClick=${again}>Try now</button></div></div>`;
}

function Help({ onClose }) {
  const keys = [["/", "search"], ...placesOf().map((p) => ["g " + p.key, "go to " + p.name.toLowerCase()]), ["↑ ↓", "from row to row, from step to step"], ["Enter", "open"], ["Esc", "close what is open"], ["?", "this help"]];
  return html`<${Dialog} title="Keys" onClose=${onClose}><dl class="kv keys-help">${keys.map(([k, what]) => html`<dt><kbd>${k}</kbd></dt><dd>${what}</dd>`)}</dl><//>`;
}

// SignIn asks for a token, unless the person has the address that the server prints.
function SignIn({ again }) {
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState(null);
  const enter = async (e) => {
    e.preventDefault();
    try {
      await post("/v1/session", { token });
      again();
    } catch (e) {
      setProblem(e);
    }
  };
  return html`<main class="view" id="main"><form class="signin sheet" onSubmit=${enter}><h1>${me.value?.ended ? "The session has ended" : "Who are you?"}</h1>
    <p class="q">${me.value?.ended && "Sign in again, and you are back at your page. "}Open the address that <code>sluice serve</code> has printed: it signs you in, once. Or enter a token; <code>sluice token create</code> makes one.</p>
    <input class="vh" type="text" autocomplete="username" value="token" tabindex="-1" aria-hidden="true" readonly />
    <label class="stack">Token <input type="password" autocomplete="current-password" ref=${focus} value=${token} onInput=${(e) => setToken(e.target.value)} /></label>
    ${problem && html`<${Fault} problem=${problem} />`}<button class="btn pri" type="submit" disabled=${!token}>Sign in</button></form></main>`;
}

function NotFound() {
  useTitle("Nothing here");
  return html`<main class="view" id="main" tabindex="-1"><div class="signin sheet"><h1>There is nothing here</h1><p>No view of the page has the address <code>${plain(here.value.path.slice(0, 300))}</code>. It may have been cut, or written by hand. <a href="/runs">All runs</a></p></div></main>`;
}

// viewOf returns the view of a path, in its shortest form, with as many parts as the view has. The server has the same table.
function viewOf({ path, parts: [first = "", ...rest] }) {
  const least = first === "start" ? 1 : 0, most = ["runs", "decisions", "workflows", "start"].includes(first) ? 1 : 0;
  return Object.hasOwn(views, first) && rest.length >= least && rest.length <= most && !/\/\/|.\/$/.test(path) ? views[first] : NotFound;
}

const Statuses = () => html`<main class="view" id="main" tabindex="-1"><div class="signin sheet"><h1>Your role sees only statuses</h1><p>This page needs the role of a viewer. <a href="/runs">All runs</a></p></div></main>`;

// useAsked counts the runs that wait for a person, and follows them.
function useAsked(known) {
  useEffect(() => {
    if (!known) return;
    let timer = 0;
    const newest = inOrder();
    const load = () => stale.peek() || newest(get("/v1/counts?q=waits:person")).then((c) => { asked.value = c.waits.person.count; }, () => {});
    const later = () => { // also when the server is back
      timer ||= setTimeout(() => { timer = 0; load(); }, 1000);
    };
    const unfollow = follow("all", later);
    later(); // after the requests of the view
    return () => { clearTimeout(timer); unfollow(); };
  }, [known]);
}

function App() {
  const [help, setHelp] = useState(false);
  const [problem, setProblem] = useState(null);
  const load = () => known().then((who) => {
    const program = who?.role === "worker";
    barred.value = program;
    setProblem(program ? new Problem(403, { detail: `${who.name} has the role worker.` }) : null);
    if (!who) return leave();
    me.value = program ? null : who;
    signedIn();
  }, setProblem);
  useLayoutEffect(() => { load(); }, []); // it waits for no frame
  useEffect(() => keys(() => setHelp(true)), []);
  useAsked(Boolean(me.value?.role));
  const { parts } = here.value;
  const View = viewOf(here.value);
  let body = null;
  if (me.value?.role === "") body = html`<${SignIn} again=${load} />`;
  else if (me.value && View !== NotFound && !may("viewer") && !(["", "runs", "workflows"].includes(parts[0] || "") && !parts[1])) body = html`<${Statuses} />`;
  else if (me.value) body = html`<${View} parts=${parts} />`;
  else if (problem?.status === 403) body = html`<main class="view" id="main"><div class="signin sheet"><h1>This token cannot use the page</h1><${Fault} problem=${problem} /><p class="q">It belongs to a worker, or to another program. Sign in as a person.</p><button class="btn pri" type="button" onClick=${() => remove("/v1/session").then(() => location.reload(), setProblem)}>Sign out</button></div></main>`;
  else if (problem) body = html`<main class="view"><div class="signin sheet"><h1>The server does not answer</h1><${Fault} problem=${problem} again=${load} /></div></main>`;
  return html`<${Sprite} /><a class="skip" href="#main" onClick=${(e) => { e.preventDefault(); document.querySelector("main")?.focus(); }}>To the content</a>
    <${Top} /><${Stale} />${body}<${BottomNav} />${help && html`<${Help} onClose=${() => setHelp(false)} />`}`;
}

const typing = (e) => e.target.closest?.("input, textarea, select, [contenteditable]");

// keys handles those that work everywhere.
function keys(showHelp) {
  let g = 0;
  const take = (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || typing(e) || document.querySelector("dialog[open]")) return;
    const to = performance.now() - g < 1000 && placesOf().find((p) => p.key === e.key);
    g = e.key === "g" ? performance.now() : 0;
    if (to) go(to.path);
    else if (e.key === "?") showHelp();
    else if (e.key === "/") document.querySelector("[data-search]")?.focus();
    else if (e.key === "ArrowDown" || e.key === "ArrowUp") { if (!step(e.target, e.key === "ArrowDown" ? 1 : -1)) return; } else return;
    e.preventDefault();
  };
  addEventListener("keydown", take);
  return () => removeEventListener("keydown", take);
}

// step moves the focus to the next row of a list, and reports whether there is one.
function step(from, by) {
  const rows = [...document.querySelectorAll("[data-row]")].filter((row) => row.getClientRects().length);
  if (!rows.length || from.closest?.("canvas, .scroll")) return false;
  const next = rows[Math.max(0, Math.min(rows.length - 1, rows.indexOf(from.closest?.("[data-row]")) + by))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}

effect(() => { document.body.classList.toggle("is-stale", stale.value > 0); });
effect(() => { document.documentElement.dataset.place = place.value; });

render(html`<${App} />`, document.getElementById("page"));
