import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { excessWidth } from "../../../test-kit/chromium.ts";
import type { Agent } from "./support/agent.ts";
import { expectNoBarriers } from "./support/barriers.ts";
import { pageTests } from "./support/hub-page.ts";

const tests = pageTests();

const edit = {
  path: "/repo/src/greet.ts",
  old_string: 'export const greet = (name: string) => {\n  return "Hello " + name;\n};',
  new_string: [
    "// Greets politely.",
    "export const greet = (name: string) => {",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code that an agent writes
    "  return `Good day, ${name}`;",
    "};",
  ].join("\n"),
};

/** A turn as an agent has it: what was asked, a call that reads, one that is blocked, one that fails, the answer. */
const oneTurn = async ({ client, asks, did }: Agent): Promise<void> => {
  const metadata = { turn_id: "turn-1" };
  const messages = [
    { role: "system", content: "You are helpful." },
    { role: "user", content: [{ type: "text", text: "Greet people more politely.\nThen run the tests." }] },
  ];
  await client.decide("pre_prompt", { prompt: messages } as never, { metadata });
  await asks("read", { path: edit.path }, "c1");
  did("read", { path: edit.path }, "c1", {
    outcome: "success",
    duration_ms: 40,
    result: edit.old_string,
  });
  await asks("bash", { command: "rm -rf build" }, "c2");
  client.notify("post_action", {
    ...{ tool_name: "edit", tool_call_id: "c3", arguments: edit, action_type: "tool_call" },
    ...{ outcome: "error", error: "the file is read-only", duration_ms: 1200 },
  } as never);
  client.notify(
    "post_response",
    { text: "I could not change it:\n\n- `greet.ts` is **read-only**", outcome: "success" } as never,
    { metadata },
  );
};

const changeScheme = async (page: Page, colorScheme: "dark" | "light"): Promise<void> => {
  await page.emulateMedia({ colorScheme });
  // Colours that are still changing are those of neither.
  await expect.poll(() => page.evaluate(() => document.getAnimations().length)).toBe(0);
};

it("reads a session as a conversation: prompts, tools with their output, decisions, durations, and what comes", async () => {
  const context = await tests.context({ viewport: { width: 1800, height: 1100 } });
  const { page, timeline, hub } = await tests.open({ context });
  const agent = await hub.agent("codex", "s1");
  await oneTurn(agent);
  const session = timeline.locator(".session", { hasText: "Greet people more politely." });
  await session.getByRole("link", { name: "Read the session s1" }).click();
  const run = page.getByRole("region", { name: "Greet people more politely." });
  await run.getByText("read-only", { exact: true }).first().waitFor();
  const entries = run.locator(".entry");
  await expect.poll(() => entries.count()).toBe(5);
  const texts = await entries.allTextContents();
  expect(texts[0]).toMatch(/asked.*Greet people more politely\.\nThen run the tests\./s);
  expect(texts[0]).not.toContain("role");
  expect(texts[1]).toMatch(/read.*greet\.ts.*allowed.*reads.*40 ms.*output/s);
  expect(texts[2]).toMatch(/rm -rf build.*blocked.*removes/s);
  expect(texts[3]).toMatch(/edit.*the file is read-only/s);
  expect(texts[4]).toContain("answered by the model");
  expect(await entries.nth(4).locator("strong", { hasText: "read-only" }).count()).toBe(1);
  expect(await run.locator(".waterfall li").count()).toBe(2);
  expect(page.url()).toMatch(/#\/timeline\/run\/codex\/s1$/);
  // The rows stay beside it, and what happens now is added.
  await timeline.locator("a.row").first().waitFor();
  await agent.asks("read", { path: "later.txt" }, "c4");
  await expect.poll(() => entries.count()).toBe(6);
  await expectNoBarriers(page);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/run-light.png` });
  await changeScheme(page, "dark");
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/run-dark.png` });
  await expectNoBarriers(page);
  await entries.nth(1).getByRole("link").first().click();
  const detail = page.getByRole("region", { name: `read ${edit.path}` });
  await detail.getByRole("link", { name: "Read it as a conversation" }).click();
  await run.waitFor();
});

it("shows a change in colours, both sides beside each other where there is room, with a link to the editor", async () => {
  const context = await tests.context({ viewport: { width: 1800, height: 1000 } });
  const { page, rows, hub } = await tests.open({ context });
  const agent = await hub.agent("codex", "s1");
  await oneTurn(agent);
  await rows.filter({ hasText: "the file is read-only" }).click();
  const code = page.locator(".code-diff");
  await code.locator(".diff-pair").first().waitFor();
  const link = code.getByRole("link", { name: edit.path });
  expect(await link.getAttribute("href")).toBe("vscode://file/repo/src/greet.ts");
  await code.locator(".tok-comment", { hasText: "// Greets politely." }).waitFor();
  await code.locator(".tok-operator", { hasText: "export" }).first().waitFor();
  await code.locator(".removed .tok-string", { hasText: '"Hello "' }).waitFor();
  await code.locator(".added .tok-string").first().waitFor();
  await expectNoBarriers(page);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/diff-light.png` });
  await changeScheme(page, "dark");
  await expectNoBarriers(page);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/diff-dark.png` });
  await page.setViewportSize({ width: 390, height: 800 });
  await expect.poll(() => code.locator(".diff-pair").count()).toBe(0);
  expect(await code.locator(".code-line.added").count()).toBeGreaterThan(0);
  expect(await excessWidth(page)).toBe(0);
  await expectNoBarriers(page);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/diff-390.png` });
  await page.getByRole("link", { name: "Read it as a conversation" }).click();
  await page.getByRole("region", { name: "Greet people more politely." }).waitFor();
  expect(await excessWidth(page)).toBe(0);
  await expectNoBarriers(page);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/run-390.png` });
  await page.getByRole("button", { name: "Close" }).click();
  await page.locator(".session").first().waitFor();
  expect(await excessWidth(page)).toBe(0);
  await page.getByRole("button", { name: "Time" }).click();
  await page.getByLabel("Jump to").waitFor();
  expect(await excessWidth(page)).toBe(0);
  await expectNoBarriers(page);
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/time-390.png` });
  await page.setViewportSize({ width: 1500, height: 900 });
  await changeScheme(page, "light");
  await page.getByLabel("Jump to").waitFor();
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/time-light.png` });
});
