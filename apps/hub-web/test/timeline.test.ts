import { readFile } from "node:fs/promises";
import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import { excessWidth } from "../../../test-kit/chromium.ts";
import { expectNoBarriers } from "./support/barriers.ts";
import { approveByKey, expectQuiet, openPage, pageTests, readOn } from "./support/hub-page.ts";
import { addRows } from "./support/rows.ts";

const tests = pageTests();

it("has a row for each action, live and under its session, with everything in its detail", async () => {
  const { page, rows, timeline, hub } = await tests.open();
  await timeline.getByText("No agent has asked this hub yet").waitFor();
  await timeline.getByText('harness run "list files"').waitFor();
  const [codex, bot] = [await hub.agent("codex", "s1"), await hub.agent("bot", "s2")];
  await codex.asks("read", { path: "a.txt" }, "c1");
  codex.did("read", { path: "a.txt" }, "c1", { outcome: "success", result: "line one\nline two" });
  await codex.asks("bash", { command: "rm -rf build" }, "c2");
  await bot.asks("read", { path: "b.txt" }, "c3");
  bot.did("read", { path: "b.txt" }, "c3", { outcome: "error", error: "ENOENT: no such file" });
  await rows.filter({ hasText: "ENOENT" }).waitFor();
  await expect.poll(() => rows.filter({ hasText: "a.txt" }).getByText("done").count()).toBe(1);
  const sessions = timeline.locator(".session");
  expect(await sessions.allTextContents()).toEqual([
    expect.stringMatching(/^failed.*bots2.*1 action · 1 failed.*Read$/),
    expect.stringMatching(/^refused.*codexs1.*2 actions · 1 refused.*Read$/),
  ]);
  await rows
    .filter({ hasText: "rm -rf build" })
    .filter({ hasText: "blocked" })
    .filter({ hasText: "removes" })
    .waitFor();

  await rows.filter({ hasText: "a.txt" }).click();
  const detail = page.getByRole("region", { name: "read a.txt" });
  await detail.getByText("The agent did it.").waitFor();
  const text = (await detail.textContent()) ?? "";
  for (const part of ["reads", "allowed", "No human was asked.", '"path": "a.txt"', "line one", "It took"]) {
    expect(text).toContain(part);
  }
  await page.keyboard.press("p");
  await page.getByRole("region", { name: "bash rm -rf build" }).getByText("removes blocked").waitFor();
  const link = page.url();
  expect(link).toMatch(/#\/timeline\/\d+$/);
  const other = await openPage(page.context(), link);
  await other.page.getByRole("region", { name: "bash rm -rf build" }).waitFor();
  expectQuiet(other);
});

it("is filtered by agent, tool, decision, failure, text and session, and the filter is in the link", async () => {
  const { page, rows, timeline, hub } = await tests.open();
  await addRows(hub.timeline, 60);
  await expect.poll(() => rows.count()).toBeGreaterThan(10);
  const shown = async (expected: RegExp) => {
    await expect
      .poll(async () => {
        const texts = await rows.allTextContents();
        return texts.length > 0 && texts.every((text) => expected.test(text));
      })
      .toBe(true);
  };
  await timeline.getByLabel("Agent").selectOption("agent-1");
  await expect
    .poll(() =>
      timeline
        .locator(".session")
        .allTextContents()
        .then((all) => all.every((text) => text.includes("agent-1"))),
    )
    .toBe(true);
  await timeline.getByLabel("Agent").selectOption("");
  await timeline.getByLabel("Tool").selectOption("bash");
  await shown(/bash/);
  await timeline.getByLabel("Decision").selectOption("blocked");
  await shown(/bash.*blocked/);
  expect(page.url()).toContain("tool=bash&decision=block");
  const other = await openPage(page.context(), page.url());
  await expect.poll(() => other.rows.count()).toBe(await rows.count());
  await timeline.getByLabel("Decision").selectOption("");
  await timeline.getByLabel("Tool").selectOption("");
  await timeline.getByRole("button", { name: "Failed only" }).click();
  await shown(/failed|refused/);
  await timeline.getByRole("button", { name: "Failed only" }).click();
  await timeline.getByLabel("Search the timeline").fill("file-7.txt");
  await shown(/file-7\.txt/);
  await timeline.getByLabel("Search the timeline").fill("nothing has this");
  await page.getByText("No row fits this filter").waitFor();
  await page.getByRole("button", { name: "Show everything" }).click();
  await expect.poll(() => rows.count()).toBeGreaterThan(10);
  await rows.first().click();
  await page.getByRole("button", { name: "Show this session" }).click();
  await timeline.getByRole("button", { name: "show all sessions" }).waitFor();
  expect(page.url()).toContain("session=session-");
  expectQuiet(other);
});

it("shows a judgement that is repeated in its turn once, and reads a session beside the filter as it is", async () => {
  const { page, rows, timeline, hub } = await tests.open();
  const [codex, bot] = [await hub.agent("codex", "s1"), await hub.agent("bot", "s2")];
  const prompt = { prompt: "list the files" } as never;
  for (const _ of [1, 2, 3])
    await codex.client.decide("pre_prompt", prompt, { metadata: { turn_id: "turn-1" } });
  await codex.asks("read", { path: "a.txt" }, "c1");
  await bot.asks("bash", { command: "rm -rf build" }, "c2");
  await rows.filter({ hasText: "rm -rf build" }).waitFor();
  expect((await hub.timeline.page()).rows).toHaveLength(5);
  await expect.poll(() => rows.filter({ hasText: "list the files" }).count()).toBe(1);
  const tool = timeline.getByLabel("Tool");
  await tool.selectOption("read");
  await timeline.getByText("1 hit").first().waitFor();
  await timeline.getByRole("link", { name: "Read the session s1" }).click();
  const run = page.getByRole("region", { name: "list the files" });
  await expect.poll(() => run.locator(".entry").count()).toBe(2);
  expect(page.url()).toMatch(/#\/timeline\/run\/codex\/s1\?tool=read$/);
  await page.keyboard.press("Escape");
  await run.waitFor({ state: "detached" });
  expect(await tool.inputValue()).toBe("read");
  expect(await timeline.getByRole("button", { name: "show all sessions" }).count()).toBe(0);
});

it("shows 120,000 rows from end to end, a bounded part at a time, and finds in them", async () => {
  const { page, rows, timeline, hub } = await tests.open({
    prepare: ({ timeline: store }) => addRows(store, 120_000),
  });
  const list = timeline.getByRole("region", { name: "Rows of the timeline" });
  const search = timeline.getByLabel("Search the timeline");
  await timeline.getByText("15 sessions").waitFor();
  expect(await timeline.locator(".session").first().textContent()).toContain("8,00");
  await search.fill("file-");
  await timeline.getByText(/^[1-9][\d,]*\+ hits$/).waitFor();
  await list.press("End");
  await timeline.getByText("120,000 hits").waitFor({ timeout: 200_000 });
  const below = () =>
    list.evaluate((element) => element.scrollHeight - element.scrollTop - element.clientHeight);
  await expect.poll(below).toBeLessThan(8);
  expect(await rows.count()).toBeLessThan(80);
  await search.fill("nothing has this");
  await page.getByText("No row fits this filter").waitFor();
  await page.getByRole("button", { name: "Show everything" }).click();
  // A row that no page has brought yet is opened by its link.
  await page.goto(`${hub.url}/#/timeline/1`);
  await page.getByRole("region", { name: "read file-0.txt" }).waitFor();
}, 300_000);

it("keeps what is read in its place while rows arrive", async () => {
  const { rows, timeline, hub } = await tests.open({
    prepare: ({ timeline: store }) => addRows(store, 5000),
  });
  const list = timeline.getByRole("region", { name: "Rows of the timeline" });
  await rows.first().waitFor();
  await list.evaluate((element) => element.scrollTo({ top: 4000 }));
  await timeline.getByRole("button", { name: "Newest" }).waitFor();
  const read = rows.nth(12);
  const [text, place] = [await read.textContent(), await read.boundingBox()];
  await addRows(hub.timeline, 30);
  const agent = await hub.agent("codex");
  await agent.asks("read", { path: "a.txt" }, "c1");
  await agent.asks("read", { path: "b.txt" }, "c2");
  await timeline.getByText("16 sessions").waitFor();
  const same = rows.filter({ hasText: text ?? "" }).first();
  await expect
    .poll(async () => Math.abs(((await same.boundingBox())?.y ?? 0) - (place?.y ?? 0)))
    .toBeLessThan(2);
  await timeline.getByRole("button", { name: "Newest" }).click();
  await rows.filter({ hasText: "b.txt" }).first().waitFor();
});

it("shows a range of time, jumps within it, and saves what is shown", async () => {
  const { page, rows, timeline } = await tests.open({
    prepare: ({ timeline: store }) => addRows(store, 20_000),
  });
  await rows.first().waitFor();
  await timeline.getByRole("button", { name: "Time" }).click();
  const jump = page.getByLabel("Jump to");
  const local = (ms: number) =>
    new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  const atMs = Math.floor((Date.now() - 20 * 60_000) / 60_000) * 60_000;
  await jump.fill(local(atMs));
  await page.getByRole("button", { name: "Jump", exact: true }).click();
  const clock = await page.evaluate((ms) => new Date(ms - 1000).toTimeString().slice(0, 5), atMs);
  await rows.filter({ hasText: clock }).first().waitFor();
  await page.getByLabel("From").fill(local(atMs));
  await page.getByLabel("Until").fill(local(atMs + 60_000));
  await page.keyboard.press("Escape");
  expect(decodeURIComponent(page.url())).toContain(`since=${new Date(atMs).toISOString()}&until=`);
  await timeline.getByLabel("Tool").selectOption("bash");
  await timeline.getByText("200 hits").waitFor();
  await timeline.getByRole("button", { name: "Export" }).click();
  const saved = async (name: string) => {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name, exact: true }).click(),
    ]);
    await page.getByText("200 rows saved").waitFor();
    return readFile(await download.path(), "utf8");
  };
  const lines = (await saved("JSON lines")).trimEnd().split("\n");
  expect(lines).toHaveLength(200);
  const ids = lines.map((each) => (JSON.parse(each) as { id: number }).id);
  expect(ids).toEqual([...ids].sort((a, b) => a - b));
  const csv = (await saved("CSV")).trimEnd().split("\r\n");
  expect(csv).toHaveLength(201);
  expect(csv[0]).toMatch(/^id,time,agent,session,/);
  expect(csv[1]).toContain(`${ids[0]},`);
});

it("is a page for a phone, light and dark, without barriers", async () => {
  const context = await tests.context({
    viewport: { width: 390, height: 780 },
    hasTouch: true,
    colorScheme: "dark",
  });
  const { page, cards, rows, hub } = await tests.open({ context });
  await addRows(hub.timeline, 1);
  const agent = await hub.agent("codex");
  await agent.asks("read", { path: `${"long-".repeat(60)}name.txt` }, "c1");
  const asking = agent.asks("bash", { command: `echo ${"x".repeat(600)}` }, "c2");
  const tabs = page.getByRole("navigation", { name: "Pages, at the bottom" });
  await cards.first().waitFor();
  expect(await rows.first().isVisible()).toBe(false);
  expect(await excessWidth(page)).toBe(0);
  await expectNoBarriers(page);
  await cards.first().getByRole("link").click();
  expect(await excessWidth(page)).toBe(0);
  await expectNoBarriers(page);
  await readOn(page.getByRole("region", { name: "bash: run this command" }));
  await approveByKey(page);
  expect(await asking).toMatchObject({ decision: "allow" });
  await page.getByText("You approved this").waitFor();
  await tabs.getByRole("link", { name: "Timeline" }).click();
  await rows.first().waitFor();
  expect(await cards.count()).toBe(0);
  for (const name of ["Timeline", "Agents", "Policy", "Grants"]) {
    await tabs.getByRole("link", { name }).click();
    await page.getByRole("heading", { name, level: 1 }).waitFor();
    expect(await excessWidth(page)).toBe(0);
    if (name !== "Policy") continue;
    // A rule that is no longer in the policy can be read, and the number of hits stands where the others do.
    await page.getByText("rule, no longer in the policy").waitFor();
    await expectNoBarriers(page);
    const left = async (locator: Locator) => (await locator.first().boundingBox())?.x;
    const cells = page.getByRole("region", { name: "Rules" }).locator("td");
    expect(await left(cells.locator(".hits"))).toBe(await left(cells.locator(".inline")));
  }
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  await page.getByRole("button", { name: "Theme: auto" }).click();
  expect(await ground()).not.toBe(dark);
});

it("shows who asks the hub, and how each is held", async () => {
  const { page, cards, hub } = await tests.open();
  const agent = await hub.agent("codex");
  await agent.asks("bash", { command: "rm -rf build" }, "c1");
  const asking = agent.asks("bash", { command: "npm test" }, "c2");
  await cards.first().waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("a");
  const row = page.getByRole("row", { name: "codex" }).first();
  await row.getByText("connected").waitFor();
  expect(await row.textContent()).toContain("2in 1 session");
  await expectNoBarriers(page);
  await hub.approvals.page().then(({ records: [record] }) =>
    hub.approvals.apply(record?.id ?? "", {
      type: "answer",
      decision: "reject",
      by: "ada",
      digest: record?.digest ?? "",
    }),
  );
  await asking;
});
