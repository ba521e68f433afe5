// The address has the state of every view: all choices, filters and selections.
import { signal } from "./ui.js";

const read = () => ({
  path: location.pathname,
  parts: location.pathname.split("/").filter(Boolean).map(decodeURIComponent),
  query: new URLSearchParams(location.search),
});

export const here = signal(read());

// go shows another address; with replace, the browser's history loses the present one.
export function go(url, replace = false) {
  if (replace) history.replaceState(null, "", url);
  else history.pushState(null, "", url);
  here.value = read();
}

// withQuery returns the present address with parameters set, or removed where the value is "".
export function withQuery(changes) {
  const query = new URLSearchParams(here.value.query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  const text = query.toString();
  return here.value.path + (text ? "?" + text : "");
}

// at returns an address made of parts.
export const at = (...parts) => "/" + parts.map(encodeURIComponent).join("/");

addEventListener("popstate", () => { here.value = read(); });

// Links of the page are followed without loading it anew.
addEventListener("click", (e) => {
  const link = e.target.closest?.("a[href]");
  if (!link || e.defaultPrevented || e.button !== 0 || e.metaKey || e.ctrlKey || e.shiftKey || e.altKey) return;
  if (link.target || link.hasAttribute("download") || link.origin !== location.origin || link.pathname.startsWith("/v1/")) return;
  e.preventDefault();
  go(link.pathname + link.search);
  if (!link.closest("[data-stay]")) scrollTo(0, 0);
});
