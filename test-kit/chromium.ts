import { accessSync, constants, readlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from "playwright-core";
import { onTestFinished, type TestContext } from "vitest";

/** The programs that are taken for Chromium, the first that is there. */
const chromiumNames = ["chromium", "chromium-browser", "google-chrome"];

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

const executablePath = (process.env.PATH ?? "")
  .split(delimiter)
  .flatMap((directory) => chromiumNames.map((name) => join(directory, name)))
  .find(isProgram);

/** How Playwright launches the browser of this machine; undefined where the PATH has none. Chromium has no sandbox for root. */
const found =
  executablePath === undefined
    ? undefined
    : { executablePath, args: process.getuid?.() === 0 ? ["--no-sandbox"] : [] };

/** Leaves a test out where there is no browser, and gives the reason. */
export const needChromium = ({ skip }: Pick<TestContext, "skip">): void => {
  const without = `this machine has none of ${chromiumNames.join(", ")}`;
  if (found !== undefined) return;
  skip(without);
};

/** The browser of this machine; undefined where there is none. */
export const launchChromium = async (): Promise<Browser | undefined> =>
  found === undefined
    ? undefined
    : chromium.launch({ executablePath: found.executablePath, args: found.args });

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

/** A browser whose profile stays in a directory, and how it is killed with all of its processes. */
export const launchProfile = async (profile: string) => {
  const context = await chromium.launchPersistentContext(profile, found ?? {});
  context.setDefaultTimeout(15_000);
  const closed = new Promise((resolve) => context.once("close", resolve));
  // The lock names the computer and the process.
  const pid = Number(readlinkSync(join(profile, "SingletonLock")).split("-").at(-1));
  let isKilled = false;
  const kill = async (): Promise<void> => {
    if (isKilled) return;
    isKilled = true;
    process.kill(-pid, "SIGKILL");
    await closed;
  };
  onTestFinished(kill);
  return { context, kill };
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
