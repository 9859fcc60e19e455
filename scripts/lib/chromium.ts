import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";
import { onTestFinished, type TestContext } from "vitest";

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

/** A browser's profile of its own, until the test is finished. */
export const openContext = async (
  browser: Browser,
  options?: BrowserContextOptions,
): Promise<BrowserContext> => {
  const context = await browser.newContext(options);
  // A machine that is busy with other tests is slow.
  context.setDefaultTimeout(15_000);
  onTestFinished(() => context.close());
  return context;
};

/** What the browser complains of from then on: errors of the console, of scripts, and of the page's policy. */
export const complaintsOf = (page: Page): string[] => {
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  return complaints;
};

/** By how many pixels the page is wider than its window. */
export const excessWidth = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
