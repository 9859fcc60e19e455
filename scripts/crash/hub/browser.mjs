import { readFileSync } from "node:fs";
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

/** A browser whose page answers one question after the other with clicks, until it is killed. */
export const startBrowser = async ({ place, random, onAcknowledged }) => {
  const { chromium } = await import("playwright-core");
  const server = await chromium.launchServer(found);
  const browser = await chromium.connect(server.wsEndpoint());
  let isKilled = false;
  const answer = async () => {
    const page = await (await browser.newContext()).newPage();
    watchAnswers(page, onAcknowledged);
    while (!isKilled) {
      const isOpen = await linkOf(place)
        .then((link) => page.goto(link))
        .then(() => true)
        .catch(() => false);
      if (isOpen) break;
      await sleep(50);
    }
    const cards = page.getByRole("list", { name: "Waiting approvals" }).getByRole("listitem");
    page.setDefaultTimeout(3000);
    while (!isKilled) {
      try {
        await cards.first().getByRole("link").click();
        await page.getByRole("button", { name: "Approve once" }).click();
        await page.keyboard.press("Escape");
      } catch {
        // The question was answered elsewhere, the hub is away, or the browser is dead.
        await sleep(random() * 50);
      }
    }
  };
  const answering = answer().catch(() => {});
  return {
    async kill() {
      isKilled = true;
      // SIGKILL, to all processes of the browser.
      await server.kill();
      await answering;
    },
  };
};
