// What all views share of the libraries.
import { h, render } from "./lib/preact.mjs";
import htm from "./lib/htm.mjs";

export { render };
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "./lib/hooks.mjs";
export { batch, computed, effect, signal, untracked, useComputed, useSignal } from "./lib/signals.mjs";

export const html = htm.bind(h);
