import { expect, it } from "vitest";
import { complaintsOf } from "../../../scripts/lib/chromium.ts";
import { expectQuiet, hold, pageTests } from "./support/hub-page.ts";

const tests = pageTests();

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
