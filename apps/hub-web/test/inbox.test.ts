import { describe, expect, it } from "vitest";
import { expectQuiet, openPage, pageTests } from "./support/hub-page.ts";

const tests = pageTests();

const command = (text: string) => ({ command: text });

describe("an approval in the page", () => {
  it("shows what an agent waits for, and the answer reaches it by one key", async () => {
    const { page, cards, rows, hub, complaints } = await tests.open();
    await page.getByText("Nothing waits for you").waitFor();
    const agent = await hub.agent("codex");
    const asking = agent.asks("bash", command("npm test"), "c1");
    await cards.first().waitFor();
    expect(await page.title()).toBe("(1) Hub");
    await page.keyboard.press("j");
    const panel = page.getByRole("region", { name: "bash: run this command" });
    await panel.getByText("High risk").waitFor();
    expect(await panel.locator(".code-command").textContent()).toContain("npm test");
    for (const text of ["codex", "commands", "it runs a command", "it may change anything"]) {
      expect(await panel.textContent()).toContain(text);
    }
    // At high risk the key moves to the button, and Enter approves.
    const approve = panel.getByRole("button", { name: "Approve once" });
    await expect.poll(() => approve.isEnabled()).toBe(true);
    await page.keyboard.press("a");
    await page.keyboard.press("Enter");
    expect(await asking).toMatchObject({ decision: "allow" });
    await panel.getByText("You approved this").waitFor();
    agent.did("bash", command("npm test"), "c1", { outcome: "success", result: "41 tests passed" });
    await panel.getByText("It was done.").waitFor();
    await rows.filter({ hasText: "npm test" }).filter({ hasText: "approved by ada" }).waitFor();
    await page.getByText("Nothing waits for you").waitFor();
    expectQuiet({ complaints, hub });
  });

  it("is refused with a reason, which the agent gets", async () => {
    const { page, cards, hub, complaints } = await tests.open();
    const agent = await hub.agent("codex");
    const asking = agent.asks("bash", command("npm publish"), "c1");
    await cards.first().getByRole("link").click();
    await expect.poll(() => page.getByRole("button", { name: "Refuse" }).isEnabled()).toBe(true);
    await page.keyboard.press("r");
    await page.keyboard.type("not on a Friday");
    await page.keyboard.press("Enter");
    expect(await asking).toMatchObject({ decision: "block", reason: "refused by ada (page): not on a Friday" });
    await page.getByText("You refused this").waitFor();
    expectQuiet({ complaints, hub });
  });

  it("gives a grant that is shown whole before, and that is revoked in the list of grants", async () => {
    const { page, cards, hub, complaints } = await tests.open();
    const agent = await hub.agent("codex");
    const asking = agent.asks("bash", command("npm test -- wire"), "c1");
    await cards.first().getByRole("link").click();
    await page.getByRole("button", { name: "Always" }).click();
    const form = page.getByRole("form", { name: "Always allow" });
    const grant = form.getByRole("status", { name: "The grant" });
    expect(await grant.textContent()).toContain("for exactly this call: sha256:");
    await form.getByLabel("calls like this one").check();
    await form.getByLabel("What command may be").selectOption("starts with");
    await form.getByLabel("command starts with").fill("npm run");
    await form.getByText("This pattern does not match the call").waitFor();
    const give = form.getByRole("button", { name: "Approve and give this grant" });
    expect(await give.isDisabled()).toBe(true);
    await form.getByLabel("command starts with").fill("npm test");
    const whole = await grant.getByRole("listitem").allTextContents();
    expect(whole.slice(0, 4)).toEqual([
      "allows bash without a question",
      "for the agent codex, in the session s1",
      'if command is: starts with "npm test" and goes on with letters, digits, spaces or _ . / : = @ , + -',
      "if no other field is given",
    ]);
    await give.click();
    expect(await asking).toMatchObject({ decision: "allow" });
    // The next call that it covers is not asked about.
    expect(await agent.asks("bash", command("npm test -- hub"), "c2")).toMatchObject({ decision: "allow" });
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("g");
    const listed = page.getByRole("list", { name: "Grants in force" });
    expect(await listed.textContent()).toContain(whole[2]);
    await listed.getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
    await page.getByRole("list", { name: "Grants that are over" }).getByText("revoked by ada (page)").waitFor();
    const again = agent.asks("bash", command("npm test -- hub"), "c3");
    await page.keyboard.press("g");
    await page.keyboard.press("i");
    await cards.first().getByRole("link").click();
    await expect.poll(() => page.getByRole("button", { name: "Refuse" }).isEnabled()).toBe(true);
    await page.getByRole("button", { name: "Refuse" }).click();
    await page.getByRole("form", { name: "Refuse" }).getByRole("button", { name: "Refuse" }).click();
    expect(await again).toMatchObject({ decision: "block" });
    expectQuiet({ complaints, hub });
  });

  it("counts one of two pages' answers, and the other learns who was first", async () => {
    const first = await tests.open();
    const { hub } = first;
    const second = await openPage(await tests.context(), hub.link());
    const agent = await hub.agent("codex");
    const asking = agent.asks("bash", command("npm test"), "c1");
    for (const { cards } of [first, second]) await cards.first().getByRole("link").click();
    await expect.poll(() => second.page.getByRole("button", { name: "Approve once" }).isEnabled()).toBe(true);
    // Both answer before either of them is told.
    await Promise.all([
      first.page.getByRole("button", { name: "Approve once" }).click(),
      second.page.getByRole("button", { name: "Approve once" }).click(),
    ]);
    expect(await asking).toMatchObject({ decision: "allow" });
    for (const { page } of [first, second]) await page.getByText("approved this").waitFor();
    expect((await hub.approvals.page()).records).toMatchObject([{ status: "approved" }]);
    expectQuiet(first);
    expectQuiet(second);
  });
});
