// Runs before the first picture and before the modules: sets the theme that a person has chosen, so that it does not flash, and sends the
// page's first requests, so that the answers come while the modules load. ask in api.js takes them.
"use strict";
{
  const theme = localStorage.getItem("theme"), early = (window.early = {}), at = location.pathname;
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  const later = (path, answer) => { early[path] = { asked: Date.now(), answer: answer.catch(() => null) }; };
  const session = fetch("/v1/session");
  later("/v1/session", session);
  if (at === "/" || at === "/runs") {
    const q = new URLSearchParams(location.search).get("q");
    const list = "/v1/runs?" + new URLSearchParams(q ? { q, limit: 50 } : { limit: 50 });
    // Without a session the request would be refused.
    later(list, session.then((s) => s.clone().json()).then((who) => (["nobody", "worker"].includes(who.role) ? null : fetch(list))));
  }
}
