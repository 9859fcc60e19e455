import type { BrowserContext, Locator, Page } from "playwright-core";
import { expect } from "vitest";
import { complaintsOf, excessWidth } from "../../../../../test-kit/chromium.ts";

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

/** Opens a page in a tab of its own, and watches what the browser says of it. */
export const openPage = async (context: BrowserContext, url: string): Promise<ChatPage> => {
  const page = await context.newPage();
  const complaints = complaintsOf(page);
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
    tooWide: () => excessWidth(page),
  };
};

/** The texts of what was said, in order, without the words for those who hear it. */
export const said = async ({ log }: ChatPage): Promise<string[]> =>
  (await log.locator(".bubble").allTextContents()).map((text) => text.replace(/^(?:You|Engine): /, ""));

/** Expects that the browser had nothing to say against the page. */
export const expectQuiet = ({ complaints }: ChatPage): void => expect(complaints).toEqual([]);
