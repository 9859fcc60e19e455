import { join } from "node:path";
import { hubPlace } from "@harnesskit/hub/place";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { launchProfile } from "../../../test-kit/chromium.ts";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import { connectAgent } from "./support/agent.ts";
import { expectQuiet, openPage, pageTests } from "./support/hub-page.ts";
import { bundleHub, startHub } from "./support/hub-process.ts";

const tests = pageTests();
const program = await bundleHub();

/** What the browser itself writes when a server is not there. */
const isUnreachable = (text: string): boolean =>
  /ERR_CONNECTION_(?:REFUSED|RESET|CLOSED)|ERR_EMPTY_RESPONSE/.test(text);

describe("a hub that is killed with -9 while its page is open", () => {
  it("is shown as away, and after its restart the answer given meanwhile counts and nothing is lost", async () => {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory[Symbol.asyncDispose]());
    const first = await startHub(program, directory.path, tests.pageDirectory());
    onTestFinished(() => first.kill());
    const { socket } = hubPlace({ state: join(directory.path, "hub") });
    const { page, cards, rows, complaints } = await openPage(await tests.context(), first.link);
    const agent = await connectAgent(socket, "codex", "s1");
    onTestFinished(() => agent.close());
    const asking = agent.asks("bash", { command: "npm test" }, "c1");
    await cards.first().getByRole("link").click();
    const approve = page.getByRole("button", { name: "Approve once" });
    await expect.poll(() => approve.isEnabled()).toBe(true);

    await first.kill();
    await page.getByText("The hub cannot be reached").waitFor();
    await approve.press("Enter");
    await page.getByText("Your answer is sent when it is back.").waitFor();
    const command = `harness hub --state ${directory.path}`;
    await page.getByRole("alert").getByText(command, { exact: true }).waitFor();

    const second = await startHub(program, directory.path, tests.pageDirectory());
    onTestFinished(() => second.kill());
    await page.getByText("Connected").waitFor();
    await page.getByText("You approved this").waitFor();
    expect(await asking).toMatchObject({ decision: "allow" });
    agent.did("bash", { command: "npm test" }, "c1", { outcome: "success" });
    await page.getByText("It was done.").waitFor();
    const other = agent.asks("bash", { command: "npm publish" }, "c2");
    await cards.filter({ hasText: "npm publish" }).getByRole("link").click();
    await expect.poll(() => page.getByRole("button", { name: "Refuse" }).isEnabled()).toBe(true);
    await page.getByRole("button", { name: "Refuse" }).click();
    await page.keyboard.press("Enter");
    expect(await other).toMatchObject({ decision: "block" });
    await rows.filter({ hasText: "npm publish" }).filter({ hasText: "refused" }).waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => rows.filter({ hasText: "npm test" }).count()).toBe(1);
    expect(complaints.filter((text) => !isUnreachable(text))).toEqual([]);
  });
});

/** How many answers the browser has kept for the next load of the page. */
const keptAnswers = (page: Page): Promise<number> =>
  page.evaluate(
    () =>
      new Promise<number>((resolve) => {
        const opening = indexedDB.open("harness-hub-unsent");
        opening.onsuccess = () => {
          const counting = opening.result.transaction("answers").objectStore("answers").count();
          counting.onsuccess = () => resolve(counting.result);
        };
      }),
  );

describe("an answer that was given while the hub was away", () => {
  /** A hub with a question, whose page answers it while the hub is away, and is closed or killed with its browser. */
  const answered = async (browser?: Awaited<ReturnType<typeof launchProfile>>) => {
    const directory = await temporaryDirectory();
    onTestFinished(() => directory[Symbol.asyncDispose]());
    const start = async () => {
      const hub = await startHub(program, directory.path, tests.pageDirectory());
      onTestFinished(() => hub.kill());
      return hub;
    };
    const first = await start();
    const { socket } = hubPlace({ state: join(directory.path, "hub") });
    const context = browser?.context ?? (await tests.context());
    const { page, cards } = await openPage(context, first.link);
    const agent = await connectAgent(socket, "codex", "s1");
    onTestFinished(() => agent.close());
    const asking = agent.asks("bash", { command: "npm test" }, "c1");
    await cards.first().getByRole("link").click();
    const approve = page.getByRole("button", { name: "Approve once" });
    await expect.poll(() => approve.isEnabled()).toBe(true);
    await first.kill();
    await page.getByText("The hub cannot be reached").waitFor();
    await approve.press("Enter");
    await page.getByText("Your answer is sent when it is back.").waitFor();
    await (browser?.kill() ?? page.close());
    return { agent, asking, context, start, socket };
  };

  it("is sent by the next page of the browser", async () => {
    const { asking, context, start } = await answered();
    const { page } = await openPage(context, (await start()).link);
    await page.getByRole("list", { name: "Answered approvals" }).getByText("by ada (page)").waitFor();
    expect(await asking).toMatchObject({ decision: "allow" });
    await expect.poll(() => keptAnswers(page)).toBe(0);
  });

  it("is sent by the next page after the browser was killed", async () => {
    const profile = await temporaryDirectory();
    onTestFinished(() => profile[Symbol.asyncDispose]());
    const { asking, start } = await answered(await launchProfile(profile.path));
    const { context } = await launchProfile(profile.path);
    await openPage(context, (await start()).link);
    expect(await asking).toMatchObject({ decision: "allow" });
  });

  it("is said to be too late if the question was over", async () => {
    const { agent, context, start } = await answered();
    const second = await start();
    const other = await openPage(await tests.context(), second.link);
    await other.cards.first().getByRole("link").click();
    await expect.poll(() => other.page.getByRole("button", { name: "Refuse" }).isEnabled()).toBe(true);
    await other.page.keyboard.press("r");
    await other.page.keyboard.press("Enter");
    await other.page.getByText("You refused this").waitFor();
    await agent.close();
    await second.kill();
    const { page } = await openPage(context, (await start()).link);
    await page.getByText("your answer came too late").click();
    await page.getByText("Your answer did not count. Another answer was first.").waitFor();
  });
});

describe("the access of the page", () => {
  it("comes from a link that is valid once, and its ticket leaves the address bar", async () => {
    const { page, hub } = await tests.open();
    expect(page.url()).not.toContain("ticket");
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage }))).not.toContain("page.");
    await page.reload();
    await page.getByText("Connected").waitFor();
    const link = hub.link();
    const context = await tests.context();
    const opened = await openPage(context, link);
    await opened.page.getByText("Connected").waitFor();
    const again = await openPage(await tests.context(), link);
    await again.page.getByText("This link was used before, or is too old").waitFor();
    await again.page.getByText("harness hub --open").waitFor();
    const bare = await openPage(await tests.context(), hub.url);
    await bare.page.getByText("This page needs a link from the hub").waitFor();
    expectQuiet(opened);
    expectQuiet(bare);
  });

  it("is shared with a tab that was opened with a link to a row", async () => {
    const { page, hub } = await tests.open();
    const agent = await hub.agent("codex");
    await agent.asks("read", { path: "a.txt" }, "c1");
    const other = await openPage(page.context(), `${hub.url}/#/timeline/1`);
    await other.page.getByRole("region", { name: "read a.txt" }).waitFor();
    expectQuiet(other);
  });

  it("that the hub does not know any more is said, with what to do", async () => {
    const { page } = await tests.open({ isQuiet: false });
    await page.evaluate(() => sessionStorage.setItem("harness-hub-access", "page.9.x.y"));
    await page.reload();
    await page.getByRole("alert").getByText("no longer signed in").waitFor();
    await page.getByText("Signed out").waitFor();
  });

  it("is served with a policy that allows nothing but its own files", async () => {
    const { hub } = await tests.open();
    const { headers } = await fetch(hub.url);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'; style-src 'self'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(policy).not.toMatch(/unsafe|\*|data:/);
  });
});
