// Instants and durations as people read them.
import { effect, signal } from "./ui.js";

// The bounds of the lead of the server's clock over the browser's, in milliseconds, and its estimate.
let least = -Infinity, most = Infinity, ahead = 0;

// told narrows the bounds by the time of an answer, in whole seconds, and the time of the request. If these contradict the bounds, a
// clock was set, and they replace the bounds. Clocks that may be equal are taken as equal.
export function told(date, asked) {
  const t = Date.parse(date), low = t - Date.now(), high = t + 1000 - asked;
  if (isNaN(t)) return;
  [least, most] = low > most || high < least ? [low, high] : [Math.max(low, least), Math.min(high, most)];
  const before = ahead;
  ahead = least > 0 || most < 0 ? (least + most) / 2 : 0;
  if (Math.abs(ahead - before) > 1000) now.value = present();
}

// present is the present instant by the clock of the server, like all instants that the page shows.
export const present = () => Date.now() + ahead;

// now ticks once a second while the page is seen.
export const now = signal(present());
setInterval(() => { if (!document.hidden) now.value = present(); }, 1000);

// zone is local or UTC.
export const zone = signal(localStorage.getItem("zone") === "UTC" ? "UTC" : "local");
effect(() => localStorage.setItem("zone", zone.value));

const format = (options) => {
  const local = new Intl.DateTimeFormat("en-GB", options);
  const utc = new Intl.DateTimeFormat("en-GB", { ...options, timeZone: "UTC" });
  return (t) => (zone.value === "UTC" ? utc : local).format(t);
};

export const clock = format({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = format({ day: "numeric", month: "short" });
const whole = format({ year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", fractionalSecondDigits: 3, timeZoneName: "short" });

export const ms = (text) => (text ? Date.parse(text) : 0);

// instant returns the time of an instant, with its day if it is 12 hours or more away.
export function instant(t) {
  if (!t) return "";
  return Math.abs(now.peek() - t) < 12 * 3600_000 ? clock(t) : day(t) + " " + clock(t).slice(0, 5);
}

// said returns a text of the server with its instants in the page's form.
export const said = (text) => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, (t) => instant(ms(t)));

// awaitedOf describes a wait of a run, as a text after the name of the step.
export const awaitedOf = (a) => (a.worker ? "waits: " + said(a.worker) : "waits for " + a.what);

export const exactly = (t) => (t ? whole(t) : "");

// took returns a duration in words, with one unit, or two where the second matters.
export function took(d) {
  if (d < 0) d = 0;
  const s = d / 1000;
  if (s < 0.0005) return "0 s";
  if (s < 1) return (s < 0.0995 ? Math.max(1, Math.round(d)) + " ms" : s.toFixed(1) + " s");
  if (s < 10) return s.toFixed(1).replace(".0", "") + " s";
  if (s < 60) return Math.floor(s) + " s";
  const m = Math.floor(s / 60);
  if (m < 60) return m < 10 && Math.floor(s % 60) ? m + " min " + Math.floor(s % 60) + " s" : m + " min";
  const h = Math.floor(m / 60);
  if (h < 24) return h + " h" + (h < 10 && m % 60 ? " " + (m % 60) + " min" : "");
  const d24 = Math.floor(h / 24);
  return d24 + (d24 === 1 ? " day" : " days");
}

// age returns the time since an instant, in one unit.
export function age(t) {
  const s = Math.max(0, (now.value - t) / 1000);
  if (s < 60) return Math.floor(s) + " s";
  if (s < 3600) return Math.floor(s / 60) + " min";
  if (s < 86400) return Math.floor(s / 3600) + " h";
  const d = Math.floor(s / 86400);
  return d + (d === 1 ? " day" : " days");
}

// left returns the time until an instant, or the time since it has passed.
export function left(t) {
  const d = t - now.value;
  return d >= 0 ? took(Math.max(1000, d)) + " left" : "overdue by " + took(-d);
}

export const number = (n) => (n ?? 0).toLocaleString("en-US");
export const many = (n, one, more = one + "s") => number(n) + " " + (n === 1 ? one : more);
export function bytes(n) {
  if (n < 1000) return n + " B";
  if (n < 1_000_000) return (n / 1000).toFixed(n < 10_000 ? 1 : 0) + " kB";
  return (n / 1_000_000).toFixed(1) + " MB";
}
