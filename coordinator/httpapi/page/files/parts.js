// Small parts that several views have.
import { html, signal, useEffect, useLayoutEffect, useRef, useState } from "./ui.js";
import { get, may, post } from "./api.js";
import { stale } from "./feed.js";
import { Mark } from "./mark.js";
import { exactly, instant, ms } from "./time.js";

// plain shows characters that turn the direction of a text, or are invisible, by their numbers: else they could hide the text after them.
export const plain = (text) => text.replace(/[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));

// Name cuts an id in the middle, since the ends distinguish ids; the title has the whole id.
export function Name({ text: all, max = 28 }) {
  const text = plain(all.slice(0, 2000)) + all.slice(2000);
  if (text.length <= max) return html`<bdi>${text}</bdi>`;
  const chars = [...text.slice(0, 200)];
  const tail = Math.floor(max / 3);
  return html`<bdi title=${text.slice(0, 1000)}>${chars.slice(0, max - tail - 1).join("")}…${[...text.slice(-100)].slice(-tail).join("")}</bdi>`;
}

// Link is a link for viewers, and a text for observers.
export const Link = ({ children, href, ...more }) => (may("viewer") ? html`<a href=${href} ...${more}>${children}</a>` : html`<span ...${more}>${children}</span>`);

export const Time = ({ at }) => {
  const t = typeof at === "string" ? ms(at) : at;
  return t ? html`<time title=${exactly(t)} dateTime=${new Date(t).toISOString()}>${instant(t)}</time>` : null;
};

// useGet reads a path, again when it or `when` changes: {value, problem, loading, again}. It lets a request end before it sends the next:
// else no answer would come where changes are faster.
export function useGet(path, when = 0) {
  const [state, set] = useState({ value: null, problem: null, loading: true, path: null });
  const [turn, setTurn] = useState(0);
  const coming = useRef(null);
  const off = stale.value > 0; // then it is read when the server is back
  useEffect(() => () => { coming.current?.stop.abort(); coming.current = null; }, [path, off]);
  useEffect(() => {
    if (!path || off) return;
    if (coming.current) { coming.current.more = true; return; }
    const read = () => {
      const it = coming.current = { stop: new AbortController() };
      const take = (next) => {
        if (coming.current !== it) return;
        coming.current = null;
        set(next);
        if (it.more) read();
      };
      set((s) => (s.path === path ? { ...s, loading: true } : { value: null, problem: null, loading: true, path }));
      get(path, it.stop.signal).then(
        (value) => take({ value, problem: null, loading: false, path }),
        (problem) => take((s) => ({ value: s.path === path ? s.value : null, problem, loading: false, path })),
      );
    };
    read();
  }, [path, when, turn, off]);
  return { ...state, again: () => setTurn((n) => n + 1) };
}

// Fault shows an error, in the words of the server.
export const Fault = ({ problem, again, title }) => html`<div class="note bad" role="alert"><${Mark} status="failed" /><div>
  ${title && html`<b>${title}</b> `}${problem.code === "changed" && html`Nothing was done, since what you saw is not the newest: look at it again. `}<bdi>${plain(problem.message.slice(0, 600))}</bdi>${problem.suggestion && html` Did you mean <b><bdi>${problem.suggestion}</bdi></b>?`}
  ${again && html` <button class="link" type="button" onClick=${again}>Try again</button>`}</div></div>`;

// Loading keeps room. It shows a text only if it lasts.
export const Loading = ({ rows = 6 }) => html`<div class="loading" role="status" aria-label="Loading">${Array.from({ length: rows }, (_, i) => html`<i key=${i} />`)}</div>`;

export const Empty = ({ title, children }) => html`<div class="empty"><b>${title}</b><p>${children}</p></div>`;

// unreachable is the reason why acts are off; "": they are on.
export const unreachable = () => (stale.value > 0 ? "The server does not answer" : "");

// Opens is a button that opens the dialog of an act. It is off while the act would be, or for the reason in off.
export const Opens = ({ class: kind = "", off, onClick, children }) => html`<button type="button" class=${"btn " + kind} disabled=${Boolean(unreachable() || off)} title=${unreachable() || off || undefined} onClick=${onClick}>${children}</button>`;

// Act is a button that sends a command. It is hidden without the right to send it; while the server does not answer, it is off and shows
// the reason. With match, the number of the run's newest event that the person has seen, it is refused if the run has gone on since.
export function Act({ role = "operator", class: kind = "", path, body, match, onDone, onProblem, children, disabled, title }) {
  const [busy, setBusy] = useState(false);
  if (!may(role)) return null;
  const off = unreachable();
  const send = async () => {
    setBusy(true);
    onProblem?.(null);
    try {
      onDone?.(await post(path, typeof body === "function" ? body() : body, match ? { "If-Match": `"${match}"` } : {}));
    } catch (e) {
      onProblem?.(e);
    } finally {
      setBusy(false);
    }
  };
  return html`<button type="button" class=${"btn " + kind} disabled=${off || busy || disabled} title=${off || title} onClick=${send}>${children}</button>`;
}

// focus is a ref: an element gets the focus when it appears. The browser's own attribute for that is for the elements of a loaded document.
export const focus = (element) => element?.focus();

// Dialog is shown while it is there, with the focus in its input with data-first. It closes with Escape, and returns the focus.
export function Dialog({ title, onClose, children, wide }) {
  const ref = useRef(null);
  useLayoutEffect(() => {
    const dialog = ref.current, before = document.activeElement;
    dialog.showModal();
    (dialog.querySelector("[data-first]") || dialog).focus();
    return () => {
      dialog.close();
      before?.focus?.();
    };
  }, []);
  return html`<dialog ref=${ref} tabindex="-1" class=${wide ? "wide" : ""} aria-label=${title} onCancel=${(e) => { e.preventDefault(); onClose(); }}
    onClick=${(e) => { if (e.target === ref.current) onClose(); }}>
    <div class="dialog"><header><h2>${title}</h2><button class="x" type="button" aria-label="Close" onClick=${onClose}><svg viewBox="0 0 12 12" aria-hidden="true"><path d="M2 2l8 8M10 2l-8 8" /></svg></button></header>${stale.value > 0 && html`<div class="note bad" role="status">The server does not answer. Nothing is sent before it is back.</div>`}${children}</div></dialog>`;
}

// Over shows the reason why the act of a dialog is no longer possible.
export const Over = ({ over }) => over && html`<div class="note bad" role="status">${over}</div>`;

// Confirm asks for a reason before an act. If over has a reason, the act is no longer possible.
export function Confirm({ title, say, over, path, word, bad, body = {}, match, onClose, onDone, onChanged, noReason }) {
  const [reason, setReason] = useState("");
  const [problem, setProblem] = useState(null);
  return html`<${Dialog} title=${title} onClose=${onClose}><p class="q">${say}</p>
    ${!noReason && html`<label class="stack">Reason <span class="qq">kept in the journal, with your name</span><input data-first maxlength="500" value=${reason} onInput=${(e) => setReason(e.target.value)} /></label>`}
    ${over ? html`<${Over} over=${over} />` : problem && html`<${Fault} problem=${problem} />`}
    <footer><button class="btn" type="button" onClick=${onClose}>Not now</button><${Act} disabled=${over} class=${bad ? "pri danger" : "pri"} path=${path} match=${match} body=${noReason ? body : { ...body, reason }} onProblem=${(e) => { setProblem(e); if (e?.code === "changed") onChanged?.(); }}
      onDone=${(v) => { onClose(); onDone?.(v); }}>${word}<//></footer><//>`;
}

// title sets the title of the document.
export function useTitle(text) {
  useEffect(() => { document.title = (text ? text + " · " : "") + "Sluice"; }, [text]);
}

// Sentence shows a text in which pieces between ** are strong.
export const Sentence = ({ text }) => text.split("**").map((part, i) => (i % 2 ? html`<b><bdi>${plain(part)}</bdi></b>` : html`<bdi>${plain(part)}</bdi>`));

// parsed reads JSON that a person writes. It returns the value, or the fault.
export function parsed(text) {
  if (!text.trim()) return [null, ""];
  try {
    return [JSON.parse(text), ""];
  } catch (e) {
    return [undefined, "This is no JSON: " + e.message];
  }
}

// narrow reports whether the page has one column.
const columns = matchMedia("(max-width: 720px)");
export const narrow = signal(columns.matches);
columns.addEventListener("change", () => { narrow.value = columns.matches; });
