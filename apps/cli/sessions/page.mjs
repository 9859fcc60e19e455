// What the recorded sessions do in the hub's page.
import { setTimeout as sleep } from "node:timers/promises";
import { chromium } from "playwright-core";
import { findChromium } from "../../../scripts/lib/find-chromium.mjs";

/** Waits for a minute. */
export const until = async (found, what) => {
  for (let round = 0; round < 1200; round++) {
    const value = await found();
    if (value) return value;
    await sleep(50);
  }
  throw new Error(`${what} did not come`);
};

export const launchChromium = () => chromium.launch(findChromium());

/** Answers what an agent asks, as a user does: reads to the end, then approves. */
export const approve = async (page, agent) => {
  const inbox = page.getByRole("region", { name: "Inbox" });
  await inbox.getByRole("listitem").filter({ hasText: agent }).first().click();
  const body = page.getByLabel("What will be done");
  const button = page.getByRole("button", { name: "Approve once" });
  await until(async () => {
    await body.evaluate((element) => element.scrollBy({ top: element.clientHeight }));
    return (await button.count()) === 1 && (await button.isEnabled());
  }, "the button");
  await button.click();
};
