import { once } from "node:events";
import { readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { findChromium } from "../../lib/find-chromium.mjs";

const found = findChromium();

/** Whether this machine has a browser to kill. */
export const hasBrowser = found !== undefined;

/** A link to the page that is valid once. Rejects while the hub is away. */
const linkOf = async ({ serverFile, tokenFile }) => {
  const { url } = JSON.parse(readFileSync(serverFile, "utf8"));
  const authorization = `Bearer ${readFileSync(tokenFile, "utf8").trim()}`;
  const response = await fetch(`${url}/page/open`, { method: "POST", headers: { authorization } });
  return `${url}/#ticket=${(await response.json()).ticket}`;
};

/** Reports each answer that the page sent and the hub acknowledged. */
const watchAnswers = (page, onAcknowledged) => {
  page.on("websocket", (socket) => {
    const sent = new Set();
    const read = ({ payload }) => JSON.parse(String(payload));
    socket.on("framesent", (frame) => {
      const { id, method } = read(frame);
      if (method === "inbox.answer") sent.add(id);
    });
    socket.on("framereceived", (frame) => {
      const { id, result } = read(frame);
      if (sent.delete(id) && result !== undefined) onAcknowledged(result.record);
    });
  });
};

/** A browser with a profile, so that it finds what a killed one has kept, and its process. */
const launch = async (profile) => {
  const { chromium } = await import("playwright-core");
  const context = await chromium.launchPersistentContext(profile, found);
  // From the start: a browser that ends by itself is closed before it is killed.
  const closed = once(context, "close");
  const pid = Number(readlinkSync(join(profile, "SingletonLock")).split("-").at(-1));
  return { context, closed, pid };
};

/** Loads the page as soon as the hub is there. */
const open = async (page, place, isOver) => {
  while (!isOver()) {
    const isOpen = await linkOf(place)
      .then((link) => page.goto(link))
      .then(() => true)
      .catch(() => false);
    if (isOpen) return;
    await sleep(50);
  }
};

/** Runs in the page: the approvals whose answers it keeps. */
const keptAnswers = () =>
  new Promise((resolve, reject) => {
    const opening = indexedDB.open("harness-hub-unsent");
    opening.onupgradeneeded = () => reject(new Error("the page has not opened its answers: is it built?"));
    opening.onsuccess = () => {
      const reading = opening.result.transaction("answers").objectStore("answers").getAllKeys();
      reading.onsuccess = () => resolve(reading.result);
    };
  });

/** The answers that the pages of a profile have kept and no hub has acknowledged, after the next page had its time to send them. */
export const unsentAnswers = async ({ place, profile }) => {
  const { context } = await launch(profile);
  try {
    const page = await context.newPage();
    await open(page, place, () => false);
    await page.getByText("Connected").waitFor();
    for (let tries = 0; ; tries++) {
      const unsent = await page.evaluate(keptAnswers);
      if (unsent.length === 0 || tries === 100) return unsent;
      await sleep(100);
    }
  } finally {
    await context.close();
  }
};

/** The approval that a page shows. */
const shownId = (page) => decodeURIComponent(page.url().split("/").at(-1));

/** Opens the first question and answers it, as a person does. Rejects where that cannot be done now. */
const answerFirst = async (page, random, onPressed) => {
  const cards = page.getByRole("list", { name: "Waiting approvals" }).getByRole("listitem");
  await cards.first().getByRole("link").click();
  const id = shownId(page);
  if (random() < 0.8) await page.getByRole("button", { name: "Approve once" }).click({ delay: 1000 });
  else {
    await page.getByRole("button", { name: /^Refuse/ }).click();
    await page
      .getByRole("form", { name: "Refuse" })
      .getByRole("button", { name: /^Refuse/ })
      .click();
  }
  // What the page says of the answer must hold from here on.
  const said = /Sending your answer|Your answer is sent when|You (?:approved|refused)|did not count/;
  await page.getByText(said).first().waitFor();
  onPressed(id);
  await page.keyboard.press("Escape");
};

/**
 * A browser whose page answers one question after the other with clicks, until it is killed.
 *
 * @param {{ onPressed: (id: string) => void, onAcknowledged: (record: object) => void }} watched `onPressed`: an answer was pressed and not refused by the page
 */
export const startBrowser = async ({ place, profile, random, onPressed, onAcknowledged }) => {
  const { context, closed, pid } = await launch(profile);
  let isKilled = false;
  const answer = async () => {
    const page = await context.newPage();
    watchAnswers(page, onAcknowledged);
    await open(page, place, () => isKilled);
    page.setDefaultTimeout(2000);
    while (!isKilled) {
      try {
        await answerFirst(page, random, onPressed);
      } catch {
        // The question was answered elsewhere, its agent has gone, or the browser is dead.
        await sleep(random() * 50);
        if (!isKilled) await page.keyboard.press("Escape").catch(() => {});
      }
    }
  };
  const answering = answer().catch(() => {});
  return {
    /** Idempotent. */
    async kill() {
      if (isKilled) return;
      isKilled = true;
      try {
        // SIGKILL, to all processes of the browser.
        process.kill(-pid, "SIGKILL");
      } catch (error) {
        if (error.code !== "ESRCH") throw error;
      }
      await closed;
      await answering;
    },
  };
};
