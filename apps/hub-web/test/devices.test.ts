import type { DeviceRights } from "@harnesskit/protocol/hub";
import type { BrowserContext, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { complaintsOf, excessWidth } from "../../../test-kit/chromium.ts";
import { expectNoBarriers } from "./support/barriers.ts";
import { expectQuiet, hold, pageTests, readOn } from "./support/hub-page.ts";
import type { OpenHub } from "./support/open-hub.ts";

const tests = pageTests();
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

interface Phone {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly complaints: string[];
}

/** A phone: a browser of its own, paired by a link. */
const pairPhone = async (
  hub: OpenHub,
  rights: DeviceRights = { may: "answer" },
  name = "Anna's phone",
): Promise<Phone> => {
  const context = await tests.context(phone);
  const page = await context.newPage();
  const complaints = complaintsOf(page);
  await page.goto(hub.devices.pair({ ...rights, name }).link);
  await page.getByRole("button", { name: "Pair this device" }).click();
  await page.getByText("Connected").waitFor();
  return { context, page, complaints };
};

const command = (text: string) => ({ tool: "bash", input: { command: text } });
const high = { risk: { level: "high" } } as const;
const statuses = async (hub: OpenHub) => (await hub.approvals.page()).records.map(({ status }) => status);
const panelOf = (page: Page) => page.locator(".decision");

describe("a phone", () => {
  it("cannot be paired by a link that was used, and says so", async () => {
    const { hub } = await tests.open();
    const { link } = hub.devices.pair({ may: "answer" });
    const pages = [
      await (await tests.context(phone)).newPage(),
      await (await tests.context(phone)).newPage(),
    ];
    for (const page of pages) {
      await page.goto(link);
      await page.getByRole("button", { name: "Pair this device" }).click();
    }
    await pages[0]?.getByText("Connected").waitFor();
    await pages[1]?.getByText("This pairing code was used before").waitFor();
    expect(hub.entries.map(({ action, details }) => [action, details?.reason])).toContainEqual([
      "hub.device.pair",
      "pairing_used",
    ]);
  });

  it("stays paired when its browser starts again, and is signed out at once when it is revoked", async () => {
    const { page, hub } = await tests.open();
    const { context, page: mobile } = await pairPhone(hub);
    await mobile.close();
    const again = await context.newPage();
    await again.goto(hub.publicUrl);
    await again.getByText("Connected").waitFor();
    await page.goto(`${hub.url}/#/devices`);
    await page.getByRole("button", { name: "Revoke …" }).click();
    await page.getByRole("button", { name: "Revoke", exact: true }).click();
    await again.getByText("This device was revoked").waitFor();
    await page.getByText(/revoked just now/).waitFor();
    await again.reload();
    await again.getByRole("button", { name: "Pair this device" }).waitFor();
  });

  it("signs itself out", async () => {
    const { hub } = await tests.open();
    const { page } = await pairPhone(hub, { may: "look" });
    await page.getByRole("link", { name: "Devices" }).click();
    await expectNoBarriers(page);
    await page.getByRole("button", { name: "Sign this device out" }).click();
    await page.getByText("This device was revoked, or signed out").waitFor();
    expect(hub.devices.list()[0]?.revokedAtMs).toBeGreaterThan(0);
  });

  it("that looks, or answers up to a risk, shows what it may not answer without a button for it", async () => {
    const { hub } = await tests.open();
    await hub.ask({ subject: command("rm -r build"), ...high });
    await hub.ask({ subject: command("npm test"), risk: { level: "low" } });
    const { page: looks } = await pairPhone(hub, { may: "look" }, "Tablet");
    const { page: answers } = await pairPhone(hub, { may: "answer", upTo: "medium" });
    for (const [page, text] of [
      [looks, "This device was paired to look"],
      [answers, "This device answers up to a medium risk"],
    ] as const) {
      await page.getByRole("link", { name: /rm -r build/ }).click();
      await panelOf(page).getByText(text).waitFor();
      expect(
        await panelOf(page)
          .getByRole("button", { name: /approve|refuse/i })
          .count(),
      ).toBe(0);
      await expectNoBarriers(page);
      await page.getByRole("button", { name: "Close" }).click();
    }
    await answers.getByRole("link", { name: /npm test/ }).click();
    const approve = answers.getByRole("button", { name: "Approve once" });
    await expect.poll(() => approve.isEnabled()).toBe(true);
    await answers.getByRole("button", { name: "Always …" }).click();
    expect(await answers.getByRole("option", { name: "calls like this one" }).count()).toBe(0);
    await answers.getByRole("button", { name: "Cancel" }).click();
    await approve.click();
    await panelOf(answers).getByText("You approved this").waitFor();
  });
});

describe("a card for a thumb", () => {
  const preview = [
    "--- a/src/price.ts",
    "+++ b/src/price.ts",
    "@@ -10,7 +10,7 @@",
    " export const priceOf = (items: readonly Item[]): number => {",
    "   const sum = items.reduce((total, { price, count }) => total + price * count, 0);",
    "-  return sum;",
    "+  return Math.round(sum * 1.19 * 100) / 100;",
    " };",
  ].join("\n");

  it("shows a diff in its context and a command whole, without a scroll to the side, and is held or answered by a key", async () => {
    const { hub } = await tests.open();
    const { page, complaints } = await pairPhone(hub);
    const long = `curl --silent ${"--header 'x-a-long-header: of many words' ".repeat(6)}https://registry.example/`;
    await hub.ask({
      subject: { tool: "edit", input: { path: "src/price.ts" }, preview },
      risk: { level: "medium" },
    });
    await hub.ask({
      subject: command(long),
      risk: { level: "unknown" },
      origin: { agent: "claude-code", session: "s2" },
    });
    await page.getByRole("link", { name: /edit/ }).first().click();
    const panel = panelOf(page);
    await panel.getByText("const sum = items.reduce").waitFor();
    expect(await excessWidth(page)).toBe(0);
    await expectNoBarriers(page);
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("link", { name: /curl/ }).click();
    await expect
      .poll(async () => (await panel.textContent())?.includes("https://registry.example/"))
      .toBe(true);
    expect(await excessWidth(page)).toBe(0);
    await readOn(panel);
    const approve = panel.getByRole("button", { name: "Hold to approve once" });
    expect((await approve.boundingBox())?.height).toBeGreaterThanOrEqual(48);
    await expect.poll(() => approve.isEnabled()).toBe(true);
    await expectNoBarriers(page);
    await approve.focus();
    await page.keyboard.press("Enter");
    await panel.getByText("You approved this").waitFor();
    expectQuiet({ complaints });
  });

  it("answers questions of several sessions at once, held if one of them is high", async () => {
    const { hub } = await tests.open();
    const { page, complaints } = await pairPhone(hub);
    for (const [index, risk] of (["low", "high", "medium"] as const).entries())
      await hub.ask({
        subject: command(`make part-${index}`),
        risk: { level: risk },
        origin: { agent: "codex", session: `s${index}` },
      });
    const boxes = page.getByRole("checkbox");
    await expect.poll(() => boxes.count()).toBe(3);
    for (const box of await boxes.all()) await box.check();
    await page.getByRole("button", { name: "Approve …" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("make part-2").scrollIntoViewIfNeeded();
    const approve = dialog.getByRole("button", { name: "Hold to approve 3 once" });
    await dialog.evaluate((element) => {
      for (const each of element.querySelectorAll("*")) each.scrollBy(0, 10_000);
    });
    await expect.poll(() => approve.isEnabled()).toBe(true);
    expect(await excessWidth(page)).toBe(0);
    await expectNoBarriers(page);
    await hold(page, approve, () =>
      expect.poll(() => statuses(hub)).toEqual(["approved", "approved", "approved"]),
    );
    await dialog.getByText("approved").first().waitFor();
    expectQuiet({ complaints });
  });

  it("gives a grant for this workspace, for 15 minutes, shown whole before it is given", async () => {
    const { hub } = await tests.open();
    const { page, complaints } = await pairPhone(hub);
    await hub.ask({
      subject: command("npm test"),
      origin: { agent: "codex", session: "s1", directory: "/home/ada/shop" },
    });
    await page.getByRole("link", { name: /npm test/ }).click();
    await page.getByRole("definition").getByText("/home/ada/shop").waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Always …" }).isEnabled()).toBe(true);
    await page.getByRole("button", { name: "Always …" }).click();
    await page
      .getByLabel("For", { exact: true })
      .selectOption("this workspace, in all sessions of the agent");
    await page.getByLabel("How long").selectOption("15 minutes");
    const text = page.getByRole("status", { name: "The grant" });
    await text.getByText("in all its sessions that work in /home/ada/shop, as it says").waitFor();
    await expectNoBarriers(page);
    expect(await excessWidth(page)).toBe(0);
    await page.getByRole("button", { name: "Approve and give this grant" }).click();
    await panelOf(page).getByText("You approved this").waitFor();
    const [grant] = await hub.approvals.grants();
    expect(grant).toMatchObject({ directory: "/home/ada/shop", by: "ada on Anna's phone" });
    expect((grant?.expiresAtMs ?? 0) - (grant?.createdAtMs ?? 0)).toBe(900_000);
    expectQuiet({ complaints });
  });
});
