import { Store, useStore } from "./store.ts";

/** The time, each second while it is looked at. */
const now = new Store(Date.now());
setInterval(() => {
  if (!document.hidden) now.set(Date.now());
}, 1000);
document.addEventListener("visibilitychange", () => now.set(Date.now()));

export const useNow = (): number => useStore(now);
