import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import type { TestContext } from "vitest";

const names = ["chromium", "chromium-browser", "google-chrome"];

const found = (process.env.PATH ?? "")
  .split(delimiter)
  .flatMap((directory) => names.map((name) => join(directory, name)))
  .find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });

/** Leaves a test out where there is no browser, and gives the reason. */
export const needChromium = ({ skip }: Pick<TestContext, "skip">): void => {
  const without = `this machine has none of ${names.join(", ")}`;
  if (found !== undefined) return;
  skip(without);
};

/** The browser of this machine; undefined where there is none. */
export const launchChromium = async (): Promise<Browser | undefined> => {
  if (found === undefined) return undefined;
  // Chromium has no sandbox for root.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath: found, args });
};
