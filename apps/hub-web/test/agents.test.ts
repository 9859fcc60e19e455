import { followControl } from "@harnesskit/ahp-client/thread-gates";
import { expect, it, onTestFinished } from "vitest";
import { excessWidth } from "../../../test-kit/chromium.ts";
import { expectNoBarriers } from "./support/barriers.ts";
import { pageTests } from "./support/hub-page.ts";

const tests = pageTests();

it("has a page for each agent: what it did, what failed, what it asked and what it spent", async () => {
  const { page, rows, hub } = await tests.open();
  const agent = await hub.agent("codex");
  const usage = { input_tokens: 2000, output_tokens: 100, cache_read_tokens: 1500, model: "known" };
  await agent.asks("read", { path: "a.txt" }, "c1");
  agent.did("read", { path: "a.txt" }, "c1", { outcome: "error", error: "ENOENT" });
  await agent.asks("bash", { command: "rm -rf build" }, "c2");
  const metadata = { turn_id: "turn-1" };
  agent.client.notify("post_response", { text: "done", usage } as never, { metadata });
  await agent.client.decide(
    "pre_action",
    { action_type: "tool_call", tool_name: "read", arguments: { path: "b" }, tool_call_id: "c3" } as never,
    { metadata: { subagent: "explorer" } },
  );
  await rows.filter({ hasText: "done" }).first().waitFor();

  await page.goto(`${hub.url}/#/agents`);
  const row = page.getByRole("region", { name: "The last 24 hours" }).getByRole("row", { name: "codex" });
  await row.getByText("$2.00").waitFor();
  // What a subagent did stands below its agent, and what it has spent is not known.
  expect(await page.getByRole("row", { name: "explorer" }).textContent()).toContain("unknown");
  await expectNoBarriers(page);
  await row.getByRole("link").click();
  await page.getByRole("heading", { name: "codex", level: 1 }).waitFor();
  await page.getByRole("img", { name: "Actions: 3, 1 failed" }).waitFor();
  await page.getByRole("img", { name: "Blocked: 1 of 3 actions" }).waitFor();
  await page.getByRole("img", { name: "Tokens: 2,100" }).waitFor();
  const sessions = page.getByRole("region", { name: "Sessions" });
  expect(await sessions.getByRole("row").allTextContents()).toEqual([
    expect.stringContaining("Session"),
    expect.stringMatching(/^s1.*75 % from the cache.*\$2\.00$/),
    expect.stringContaining("explorer"),
  ]);
  // An agent that takes commands is stopped and given prompts here; what it refuses is said.
  const told: string[] = [];
  const following = new AbortController();
  onTestFinished(() => following.abort());
  const handlers = {
    stop: () => Promise.reject(new Error("nothing runs")),
    message: async (session: string, text: string) => void told.push(`${session}: ${text}`),
  };
  void followControl(agent.client, handlers, { signal: following.signal });
  await sessions.getByRole("button", { name: "Stop or message" }).click();
  const dialog = page.getByRole("dialog", { name: "Session s1" });
  await dialog.getByLabel("A prompt for it").fill("and test it");
  await expectNoBarriers(page);
  await dialog.getByRole("button", { name: "Send" }).click();
  await dialog.getByText("It has the prompt").waitFor();
  expect(told).toEqual(["s1: and test it"]);
  await dialog.getByRole("button", { name: "Stop it" }).click();
  const answer = dialog.getByText("The agent refused it: nothing runs");
  await answer.waitFor();
  // What it answered stays when it is gone; nothing more can be told.
  await agent.client.close();
  await dialog.locator("button:disabled", { hasText: "Stop it" }).waitFor();
  expect(await answer.isVisible()).toBe(true);
  await page.keyboard.press("Escape");
  await sessions.getByRole("link", { name: "s1" }).click();
  const turns = page.getByRole("region", { name: "Turns" });
  expect(await turns.getByRole("row", { name: "turn-1" }).textContent()).toMatch(/2,000.*100\$2\.00/);
  expect(await turns.getByRole("row", { name: "outside of a turn" }).textContent()).toMatch(/unknown$/);
  await page.getByLabel("Period").selectOption("the last 7 days");
  await page.getByRole("img", { name: "Actions: 3, 1 failed" }).waitFor();
  await page.getByText("As a table").click();
  await page.locator("details").getByRole("row", { name: "$2.00" }).waitFor();
  await expectNoBarriers(page);
  await page.setViewportSize({ width: 390, height: 780 });
  expect(await excessWidth(page)).toBe(0);
  await expectNoBarriers(page);
});

it("names a session by what was asked in it first, with its id beside the pointer", async () => {
  const { page, rows, hub } = await tests.open();
  const agent = await hub.agent("codex", "7f0c2a");
  const metadata = { turn_id: "turn-1" };
  await agent.client.decide("pre_prompt", { prompt: "tidy up the shop" } as never, { metadata });
  await agent.asks("read", { path: "a.txt" }, "c1");
  await rows.filter({ hasText: "a.txt" }).waitFor();
  await page.goto(`${hub.url}/#/agents/codex`);
  const session = page.getByRole("region", { name: "Sessions" }).getByRole("link");
  await expect.poll(() => session.textContent()).toBe("tidy up the shop");
  expect(await session.getAttribute("title")).toBe("session 7f0c2a");
  await session.click();
  await page.getByRole("columnheader", { name: "Turns of tidy up the shop" }).waitFor();
});
