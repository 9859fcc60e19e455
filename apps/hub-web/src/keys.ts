import { useEffect, useRef } from "preact/hooks";
import { type PageName, pages } from "./state/route.ts";

/** The keys that open a page: `g i`. */
export const pageKey = (page: PageName): string => `g ${page[0]}`;

/** All keys, as the help shows them. */
export const keyHelp = [
  {
    title: "Inbox",
    keys: [
      [["j", "k"], "next and previous approval"],
      [
        ["a"],
        "approve; at high or unknown risk this moves to the button, and Enter approves (a pointer holds it)",
      ],
      [["r"], "refuse, with a reason"],
      [["w"], "always: approve and give a grant, shown before it is given"],
      [["x"], "select for several at once: A approves and R refuses them"],
      [["Esc"], "close what is open"],
    ],
  },
  {
    title: "Timeline",
    keys: [
      [["n", "p"], "next and previous row"],
      [["/"], "search"],
      [["f"], "failed only"],
    ],
  },
  {
    title: "Everywhere",
    keys: [...pages.map((page) => [[pageKey(page)], page] as const), [["?"], "these keys"]],
  },
] as const;

/** What comes after or before what is open in a list; with nothing open its first or last. */
export const stepIn = <Item>(
  list: readonly Item[],
  isOpen: (item: Item) => boolean,
  step: 1 | -1,
): Item | undefined => {
  const at = list.findIndex(isOpen);
  if (at === -1) return list.at(step === 1 ? 0 : -1);
  return list[Math.min(list.length - 1, Math.max(0, at + step))];
};

const actions = new Map<string, (() => void)[]>();
/** How long the second key of two may take. */
const prefixMs = 1500;
let prefix: { readonly key: string; readonly atMs: number } | undefined;

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName)) &&
  !(target instanceof HTMLInputElement && ["checkbox", "radio", "button"].includes(target.type));

const onKey = (event: KeyboardEvent): void => {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (document.querySelector("dialog[open]") !== null) return;
  if (isTyping(event.target)) {
    if (event.key === "Escape" && event.target instanceof HTMLElement) event.target.blur();
    return;
  }
  const led =
    prefix !== undefined && event.timeStamp - prefix.atMs < prefixMs
      ? `${prefix.key} ${event.key}`
      : event.key;
  prefix = undefined;
  const action = actions.get(led)?.at(-1) ?? (led === event.key ? undefined : actions.get(event.key)?.at(-1));
  if (action !== undefined) {
    event.preventDefault();
    action();
  } else if (event.key === "g") prefix = { key: "g", atMs: event.timeStamp };
};

window.addEventListener("keydown", onKey);

/** Runs an action at a key, or at two in a row (`g i`), while the view is there. The view that came last has the key. */
export const useKey = (key: string, action: () => void, isEnabled = true): void => {
  const latest = useRef(action);
  latest.current = action;
  useEffect(() => {
    if (!isEnabled) return undefined;
    const run = () => latest.current();
    const all = actions.get(key) ?? [];
    actions.set(key, [...all, run]);
    return () => {
      actions.set(
        key,
        (actions.get(key) ?? []).filter((each) => each !== run),
      );
    };
  }, [key, isEnabled]);
};
