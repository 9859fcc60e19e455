import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished } from "vitest";
import { complaintsOf, launchChromium, needChromium, openContext } from "../../../../test-kit/chromium.ts";
import { buildPage } from "./build-page.ts";
import { type OpenHub, type OpenHubOptions, openHub } from "./open-hub.ts";

export interface HubPage {
  readonly page: Page;
  /** What the browser complained of, the page's policy included. */
  readonly complaints: string[];
  /** The list of what waits. */
  readonly inbox: Locator;
  /** The cards of what waits. */
  readonly cards: Locator;
  readonly timeline: Locator;
  /** The rows of the timeline that are in sight. */
  readonly rows: Locator;
}

export const openPage = async (context: BrowserContext, url: string): Promise<HubPage> => {
  const page = await context.newPage();
  const complaints = complaintsOf(page);
  await page.goto(url);
  const inbox = page.getByRole("region", { name: "Inbox" });
  const timeline = page.getByRole("region", { name: "Timeline", exact: true });
  const cards = inbox.getByRole("list", { name: "Waiting approvals" }).getByRole("listitem");
  return { page, complaints, inbox, cards, timeline, rows: timeline.locator("a.row") };
};

export interface OpenOptions extends OpenHubOptions {
  /** @default a new one */
  readonly context?: BrowserContext;
  /** Runs before the page is opened. */
  readonly prepare?: (hub: OpenHub) => Promise<void>;
  /** Whether browser and hub must have had nothing to complain of when the test has ended. @default true */
  readonly isQuiet?: boolean;
}

/** One browser and one built page for all tests of a file; these are skipped where there is no browser. */
export const pageTests = () => {
  let browser: Browser | undefined;
  let built: Awaited<ReturnType<typeof buildPage>> | undefined;
  beforeAll(async () => {
    browser = await launchChromium();
    if (browser !== undefined) built = await buildPage();
  });
  afterAll(async () => {
    await browser?.close();
    await built?.remove();
  });
  beforeEach((test) => needChromium(test));
  const watched: Parameters<typeof expectQuiet>[0][] = [];
  afterEach(() => {
    for (const each of watched.splice(0)) expectQuiet(each);
  });
  const context = (options?: Parameters<typeof openContext>[1]) => openContext(browser as Browser, options);
  return {
    context,
    pageDirectory: () => built?.path ?? "",
    /** A hub of its own, with the page open. */
    async open({
      context: given,
      prepare,
      isQuiet = true,
      ...options
    }: OpenOptions = {}): Promise<HubPage & { readonly hub: OpenHub }> {
      const hub = await openHub(built?.path ?? "", options);
      onTestFinished(() => hub[Symbol.asyncDispose]());
      await prepare?.(hub);
      const opened = await openPage(given ?? (await context()), hub.link());
      await opened.page.getByText("Connected").waitFor();
      if (isQuiet) watched.push({ complaints: opened.complaints, hub });
      return { ...opened, hub };
    },
  };
};

/** Expects that neither the browser nor the hub had anything to complain of. */
export const expectQuiet = ({
  complaints,
  hub,
}: Pick<HubPage, "complaints"> & { readonly hub?: OpenHub }): void => {
  expect(complaints).toEqual([]);
  expect(hub?.errors ?? []).toEqual([]);
};

/** Holds a button, as a thumb does, until `isDone` passes. */
export const hold = async (page: Page, button: Locator, isDone: () => Promise<unknown>): Promise<void> => {
  await button.hover();
  await page.mouse.down();
  await isDone();
  await page.mouse.up();
};

/** Approves by the keyboard, which no risk needs to be held for. */
export const approveByKey = async (where: Page | Locator): Promise<void> => {
  const approve = where.getByRole("button", { name: /approve once/i });
  await expect.poll(() => approve.isEnabled()).toBe(true);
  await approve.press("Enter");
};

/** Reads an approval to its end, so that it can be approved. */
export const readOn = async (panel: Locator): Promise<void> => {
  await expect
    .poll(async () => {
      await panel
        .getByLabel("What will be done")
        .evaluate((element) => element.scrollBy({ top: element.clientHeight }));
      return panel.getByRole("button", { name: /approve once/i }).count();
    })
    .toBe(1);
};
