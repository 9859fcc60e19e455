import { expect, it } from "vitest";
import { excessWidth } from "../../../test-kit/chromium.ts";
import { expectNoBarriers } from "./support/barriers.ts";
import { approveByKey, pageTests } from "./support/hub-page.ts";
import { addRows } from "./support/rows.ts";

const tests = pageTests();

it("says what each rule means, tries a change on an event and on what happened, and saves it with a diff", async () => {
  const { page, rows, hub } = await tests.open({ savesPolicy: true });
  const agent = await hub.agent("codex");
  await agent.asks("bash", { command: "rm -rf build" }, "c1");
  await rows.filter({ hasText: "rm -rf build" }).click();
  const blocked = page.getByRole("region", { name: "bash rm -rf build" });
  const allowing = await blocked.locator(".code-body", { hasText: "allow-this" }).textContent();
  await blocked.getByRole("link", { name: "Test this event" }).click();

  const removes = page.getByRole("region", { name: "Rules" }).getByRole("row", { name: "removes" });
  await removes.getByText("blocked 1").waitFor();
  expect(await removes.textContent()).toMatch(
    /an action with the tool bash.*args\.command\.startsWith\("rm"\).*it removes files/,
  );
  const event = page.getByRole("region", { name: "This event" });
  await event.getByText("now blocked").waitFor();
  const text = page.getByLabel("Policy (YAML)");
  const save = page.getByRole("button", { name: "Show the changes and save" });
  expect(await save.isEnabled()).toBe(false);
  const changed = (await text.inputValue()).replace("  - name: removes", `  ${allowing}\n  - name: removes`);

  // An error stands at its line, and its number leads there.
  await text.fill(changed.replace("then: allow }", "then: nothing }"));
  const problem = page.getByRole("list", { name: "Problems of the policy" }).getByRole("button");
  await problem.first().click();
  const at = changed.split("\n").findIndex((line) => line.includes("allow-this"));
  expect(await problem.first().textContent()).toBe(`Line ${at + 1}`);
  const selected = () =>
    text.evaluate((field: HTMLTextAreaElement) =>
      field.value.slice(field.selectionStart, field.selectionEnd),
    );
  expect(await selected()).toContain("allow-this");
  expect(await page.locator(".editor-line.bad").count()).toBe(1);
  await event.getByText("It is judged when the policy has no errors.").waitFor();
  expect(await save.isEnabled()).toBe(false);
  await expectNoBarriers(page);

  await text.fill(changed);
  await event.getByText("now allowed").waitFor();
  await page.getByRole("button", { name: "Run the backtest" }).click();
  const change = page.getByRole("region", { name: "Backtest" }).getByRole("row", { name: "rm -rf build" });
  expect(await change.textContent()).toMatch(/blocked.*allowed/);

  // What was written is there when one comes back to the page.
  await page.getByRole("link", { name: "Timeline" }).first().click();
  await page.getByRole("link", { name: "Policy" }).first().click();
  expect(await text.inputValue()).toBe(changed);
  await save.click();
  const dialog = page.getByRole("dialog", { name: "Save the policy" });
  expect(await dialog.locator(".code-line.added").allTextContents()).toEqual([
    expect.stringContaining("allow-this"),
  ]);
  await expectNoBarriers(page);
  await dialog.getByRole("button", { name: "Save and put in force" }).click();
  await page.getByRole("region", { name: "Rules" }).getByRole("row", { name: "allow-this" }).waitFor();
  expect(await agent.asks("bash", { command: "rm -rf build" }, "c2")).toMatchObject({ decision: "allow" });
  expect(await text.inputValue()).toBe(changed);
});

it("makes a rule from an answer, and puts it into the policy", async () => {
  const { page, cards, hub } = await tests.open({ savesPolicy: true });
  const agent = await hub.agent("codex");
  const asking = agent.asks("bash", { command: "npm test -- --watch" }, "c1");
  await cards.first().getByRole("link").click();
  const panel = page.getByRole("region", { name: "bash: run this command" });
  // A grant for calls like this one begins with the shortest pattern.
  await panel.getByRole("button", { name: "Always" }).click();
  await panel.getByLabel("Which calls").selectOption("calls like this one");
  expect(await panel.getByLabel("command starts with").inputValue()).toBe("npm test");
  await page.keyboard.press("Escape");
  await approveByKey(page);
  expect(await asking).toMatchObject({ decision: "allow" });
  await panel.getByText("Make a rule from this answer").click();
  await panel.getByText("npm test*").waitFor();
  await expectNoBarriers(page);
  await panel.getByRole("link", { name: "Add it to the policy" }).click();
  await page.getByRole("button", { name: "Show the changes and save" }).click();
  await page.getByRole("button", { name: "Save and put in force" }).click();
  await page.getByRole("region", { name: "Rules" }).getByRole("row", { name: "allow-npm-test" }).waitFor();
  expect(await agent.asks("bash", { command: "npm test src/a.ts" }, "c2")).toMatchObject({
    decision: "allow",
  });
  const other = agent.client.decide("pre_action", {
    ...{ action_type: "tool_call", tool_name: "bash", arguments: { command: "npm test; ls" } },
  } as never);
  await expect
    .poll(() => hub.approvals.page({ status: "pending" }).then(({ records }) => records.length))
    .toBe(1);
  await agent.close();
  await other.catch(() => {});
});

it("says why a policy cannot be saved, shows how far a backtest has come, and fits a phone", async () => {
  const context = await tests.context({ viewport: { width: 390, height: 780 }, colorScheme: "dark" });
  const { page, hub } = await tests.open({
    context,
    prepare: ({ timeline }) => addRows(timeline, 40_000),
  });
  await page.goto(`${hub.url}/#/policy`);
  await page.getByText("It cannot be saved here").waitFor();
  expect(await excessWidth(page)).toBe(0);
  await expectNoBarriers(page);
  await page.getByLabel("Period").selectOption("all that is kept");
  await page.getByRole("button", { name: "Run the backtest" }).click();
  const progress = page.getByLabel("Progress of the backtest");
  await expect.poll(() => progress.evaluate((bar: HTMLProgressElement) => bar.value)).toBeGreaterThan(0);
  await page.getByRole("button", { name: "Stop" }).click();
  await expect.poll(() => progress.count()).toBe(0);
  expect(await page.getByRole("button", { name: "Run the backtest" }).isEnabled()).toBe(true);
});

it("says that the hub was started without the policy that it had before, and how to use that again", async () => {
  const formerPolicy = { file: "/home/ada/own.yaml", start: "hub --policy /home/ada/own.yaml" };
  const { page } = await tests.open({ formerPolicy });
  const alert = page.getByRole("alert");
  await alert.getByText("without the policy that it had before, /home/ada/own.yaml").waitFor();
  await alert.getByText("harness hub --policy /home/ada/own.yaml", { exact: true }).waitFor();
  await expectNoBarriers(page);
  await page.setViewportSize({ width: 390, height: 780 });
  expect(await excessWidth(page)).toBe(0);
});
