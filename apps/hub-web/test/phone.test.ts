import { expect, it } from "vitest";
import { complaintsOf } from "../../../test-kit/chromium.ts";
import { expectNoBarriers } from "./support/barriers.ts";
import { expectQuiet, hold, pageTests } from "./support/hub-page.ts";
import type { OpenHub } from "./support/open-hub.ts";

const tests = pageTests();
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const statuses = async (hub: OpenHub) => (await hub.approvals.page()).records.map(({ status }) => status);

it("a phone is paired with the code that the hub's page shows, answers, and its answer is marked on the page within a second", async () => {
  const { page, hub, complaints, cards } = await tests.open();
  await page.getByRole("link", { name: "Devices" }).click();
  await page.getByText("No device is paired yet").waitFor();
  await expectNoBarriers(page);
  await page.getByRole("button", { name: "Pair a device …" }).click();
  await page.getByLabel("Name").fill("Anna's phone");
  await page.getByRole("button", { name: "Show the code" }).click();
  await page.getByRole("img", { name: "The pairing link, as a QR code" }).waitFor();
  await expectNoBarriers(page);
  const code = (await page.locator(".pairing-code").textContent()) ?? "";
  const mobile = await (await tests.context(phone)).newPage();
  const mobileComplaints = complaintsOf(mobile);
  await mobile.goto(hub.publicUrl);
  await mobile.getByRole("button", { name: "Pair this device" }).waitFor();
  await expectNoBarriers(mobile);
  await mobile.getByLabel("Pairing code").fill(code.toLowerCase());
  await mobile.getByRole("button", { name: "Pair this device" }).click();
  await mobile.getByText("Connected").waitFor();
  expect(new URL(mobile.url()).hash).toBe("");
  await page.getByRole("button", { name: "Done" }).click();
  const listed = page.getByRole("list", { name: "Devices" });
  await listed.getByText("Anna's phone").waitFor();
  await listed.getByText("answers everything").waitFor();
  await page.getByRole("link", { name: "Inbox and timeline" }).click();
  const agent = await hub.agent("codex");
  const asking = agent.asks("bash", { command: "npm test" }, "c1");
  await cards.first().click();
  await mobile.getByRole("list", { name: "Waiting approvals" }).getByRole("link").first().click();
  const approve = mobile.getByRole("button", { name: "Hold to approve once" });
  await expect.poll(() => approve.isEnabled()).toBe(true);
  // A tap is not enough for a high risk.
  await approve.click();
  expect(await statuses(hub)).toEqual(["pending"]);
  let answeredAtMs = 0;
  await hold(mobile, approve, async () => {
    await expect.poll(() => statuses(hub), { interval: 5 }).toEqual(["approved"]);
    answeredAtMs = Date.now();
  });
  await page.getByText("ada on Anna's phone approved this").waitFor();
  expect(Date.now() - answeredAtMs).toBeLessThan(1000);
  expect(await asking).toMatchObject({ decision: "allow" });
  await mobile.getByText("You approved this").waitFor();
  expectQuiet({ complaints: [...complaints, ...mobileComplaints], hub });
});

it("a link of a notice shows one approval, and answers it without the hub's token", async () => {
  const { hub } = await tests.open();
  const agent = await hub.agent("codex");
  const asking = agent.asks("bash", { command: "npm publish" }, "c1");
  await expect.poll(async () => (await hub.approvals.page()).records.length).toBe(1);
  const link = await hub.answerLink();
  // A phone: another browser, without a session.
  const page = await (await tests.context({ viewport: { width: 390, height: 844 } })).newPage();
  const complaints = complaintsOf(page);
  await page.goto(link);
  await page.getByRole("heading", { name: "bash: run this command" }).waitFor();
  expect(page.url()).toBe(`${hub.publicUrl}/answer.html`);
  expect(await page.getByRole("button", { name: "Always" }).count()).toBe(0);
  const approve = page.getByRole("button", { name: "Approve once" });
  await expect.poll(() => approve.isEnabled()).toBe(true);
  // The hub is away when the answer is given first.
  let lost = 1;
  await page.route("**/answer/say", (route) => (lost-- > 0 ? route.abort() : route.continue()));
  await hold(page, approve, () => page.getByText("Your answer is sent when it is back.").waitFor());
  expect(await asking).toMatchObject({ decision: "allow" });
  await page.getByText("phone (signed link) approved this").waitFor();
  // Used: it says how the approval ended.
  await page.goto("about:blank");
  await page.goto(link);
  await page.getByText("This approval was approved by phone (signed link)").waitFor();
  expect(await approve.count()).toBe(0);
  await page.goto("about:blank");
  await page.goto(link.slice(0, -2));
  await page.getByText("This link is too old, or was changed").waitFor();
  expect(complaints.filter((text) => !/40[19]|410|ERR_FAILED/.test(text))).toEqual([]);
  expectQuiet({ complaints: [], hub });
});
