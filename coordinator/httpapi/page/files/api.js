// Requests. Each failure is a Problem with the code and the words of the server.
import { signal } from "./ui.js";
import { told } from "./time.js";

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || "The server has answered " + status);
    this.status = status;
    this.code = body.code || "";
    this.suggestion = body.suggestion || "";
    this.errors = body.errors || [];
  }
}

// me is the current identity, {name, role}: null while unknown, and of role "" without a valid session; ended: there was one before.
export const me = signal(null);

// leave records that there is no valid session, or no longer.
export const leave = () => { me.value = { name: "", role: "", ended: Boolean(me.value?.role || me.value?.ended) }; };

const ranks = ["viewer", "operator", "author", "admin"];

// may reports whether the person has a role or a higher one.
export const may = (role) => ranks.indexOf(me.value?.role) >= ranks.indexOf(role);

const timeout = 30_000;

// early returns the answer to the request of early.js for a path, once; if the server could not answer, it asks again.
async function early(path) {
  const one = window.early[path];
  delete window.early[path];
  const answer = await one?.answer;
  return answer?.status < 500 ? { answer, asked: one.asked } : null;
}

async function ask(method, path, body, headers = {}, stop) {
  const signals = [AbortSignal.timeout(timeout)];
  if (stop) signals.push(stop);
  let { answer, asked } = (method === "GET" && (await early(path))) || { asked: Date.now() };
  try {
    stop?.throwIfAborted();
    answer ||= await fetch(path, {
      method, headers: body === undefined ? headers : { "Content-Type": "application/json", ...headers },
      body: body === undefined ? undefined : JSON.stringify(body), signal: AbortSignal.any(signals),
    });
  } catch (e) {
    if (stop?.aborted) throw e;
    throw new Problem(0, { detail: e.name === "TimeoutError" ? "The server has not answered within 30 s." : "The server does not answer.", code: "offline" });
  }
  if (answer.headers.get("Cache-Control") === "no-store") told(answer.headers.get("Date"), asked); // others may be of the browser's memory
  const text = await answer.text();
  const json = /json/.test(answer.headers.get("Content-Type") || "");
  const value = json && text ? JSON.parse(text) : {};
  if (!answer.ok) {
    if (answer.status === 401) leave();
    throw new Problem(answer.status, value);
  }
  return value;
}

export const get = (path, stop) => ask("GET", path, undefined, {}, stop);
export const post = (path, body = {}, headers, stop) => ask("POST", path, body, headers, stop);
export const remove = (path) => ask("DELETE", path);

// known returns the identity of the browser's session, null without one. The server does not refuse it, so the console shows no error.
export const known = () => get("/v1/session").then((who) => (who.role === "nobody" ? null : who));

// inOrder returns a function that passes on the results of promises, except those that a later result has overtaken: these stay pending.
export function inOrder() {
  let asked = 0, taken = 0;
  return (promise) => new Promise((done, fail) => {
    const turn = ++asked, pass = (on) => (v) => { if (turn > taken) { taken = turn; on(v); } };
    promise.then(pass(done), pass(fail));
  });
}

// of returns the path of a run, or of a part of it.
export const of = (run, ...rest) => "/v1/runs/" + [run, ...rest].map(encodeURIComponent).join("/");

// word returns a text as a word of a query for runs.
export const word = (text) => (/[\s",\\]/.test(text) ? `"${text.replace(/["\\]/g, "\\$&")}"` : text);

// query returns parameters that have a value, with the question mark.
export function query(values) {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value) q.set(name, value);
  const text = q.toString();
  return text ? "?" + text : "";
}
