import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";

export interface ChatPage {
  readonly page: Page;
  readonly log: Locator;
  /** What the browser complained of: errors of the console, of scripts, and of the page's policy. */
  readonly complaints: string[];
  /** Writes a message and sends it. */
  say(text: string): Promise<void>;
  /** Waits until nothing is under way. */
  idle(): Promise<void>;
  /** What is wider than the page lets it be, as texts. */
  tooWide(): Promise<number>;
}

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

/** Opens a page in a tab of its own, and watches what the browser says of it. */
export const openPage = async (context: BrowserContext, url: string): Promise<ChatPage> => {
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(url);
  const idle = async () => {
    await page.getByRole("button", { name: "Stop" }).waitFor({ state: "detached" });
  };
  return {
    page,
    complaints,
    log: page.getByRole("log"),
    idle,
    say: async (text) => {
      const field = page.getByLabel("Your message");
      await field.fill(text);
      await field.press("Enter");
      await page.locator(".bubble.user", { hasText: text }).last().waitFor();
      await idle();
    },
    tooWide: () =>
      page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
  };
};

/** The texts of what was said, in order, without the words for those who hear it. */
export const said = async ({ log }: ChatPage): Promise<string[]> =>
  (await log.locator(".bubble").allTextContents()).map((text) => text.replace(/^(?:You|Engine): /, ""));

/** Expects that the browser had nothing to say against the page. */
export const expectQuiet = ({ complaints }: ChatPage): void => expect(complaints).toEqual([]);
