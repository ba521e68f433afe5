// Text that a person has typed and not sent. The tab keeps it, so that it is there when they come back to the view by the history, or
// after they have signed in again. It belongs to one user, and is removed when that user signs out. Tokens are never kept.
import { useState } from "./ui.js";
import { me } from "./api.js";

const mark = "typed ";

// useTyped returns the text typed in a view, or first; a function that replaces it, and stores its second argument, if there is one, in
// its place; and a function that forgets the stored text.
export function useTyped(view, first) {
  const [key] = useState(() => mark + JSON.stringify([me.peek().name, view]));
  const [value, set] = useState(() => JSON.parse(sessionStorage.getItem(key)) ?? first);
  const forget = () => sessionStorage.removeItem(key);
  const keep = (typed, written = typed) => {
    set(typed);
    try {
      sessionStorage.setItem(key, JSON.stringify(written));
    } catch { // it is too large: then the view alone has it
      forget();
    }
  };
  return [value, keep, forget];
}

// forgetAll forgets the text typed in all views.
export function forgetAll() {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(mark)) sessionStorage.removeItem(key);
}
