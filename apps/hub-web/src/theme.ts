import { Store } from "./state/store.ts";

export type Theme = "auto" | "light" | "dark";

const storageKey = "harness-hub-theme";
const themes: readonly Theme[] = ["auto", "light", "dark"];
const stored = localStorage.getItem(storageKey);

export const theme = new Store<Theme>(themes.find((each) => each === stored) ?? "auto");

const apply = (value: Theme): void => {
  if (value === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = value;
};

apply(theme.value);
theme.subscribe((value) => {
  localStorage.setItem(storageKey, value);
  apply(value);
});

export const nextTheme = (): void =>
  theme.set(themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? "auto");
