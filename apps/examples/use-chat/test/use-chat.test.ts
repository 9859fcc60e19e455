import type { Browser } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { launchChromium, needChromium } from "../../../../test-kit/chromium.ts";
import { ChatPage, ChatServer } from "./support/chat-server.ts";

let found: Browser | undefined;

beforeAll(async () => {
  found = await launchChromium();
});
afterAll(() => found?.close());
beforeEach((test) => needChromium(test));

const open = async () => {
  const server = await ChatServer.start();
  const browser = found as Browser;
  return { server, browser, chat: await ChatPage.open(browser, server.link) };
};

describe("the chat page in a browser", () => {
  it("streams an answer, asks before it writes, writes when you approve, and not when you refuse", async () => {
    const { server, chat } = await open();
    expect(chat.page.url()).toMatch(/\/#chat=chat-[\w-]+$/u);
    server.hold();
    await chat.say("help");
    const held = await chat.heldAnswer();
    await server.release();
    await chat.idle();
    expect((await chat.answer()).length).toBeGreaterThan(held.length);
    expect((await chat.answer()).startsWith(held)).toBe(true);

    await chat.say("write milk.txt: two litres");
    await chat.call.getByText("waits for you").waitFor();
    expect(await chat.call.textContent()).toContain("write: write milk.txt");
    expect(await chat.call.locator("pre").first().textContent()).not.toContain("{");
    expect(await chat.call.textContent()).toContain("two litres");
    expect(await server.note("milk.txt")).toBeUndefined();
    await chat.button("Approve").click();
    await chat.call.getByText("done").waitFor();
    await chat.idle();
    expect(await server.note("milk.txt")).toBe("two litres");

    await chat.say("write bread.txt: a loaf");
    await chat.button("Refuse").click();
    await chat.call.getByText("was refused").waitFor();
    await chat.idle();
    expect(await server.note("bread.txt")).toBeUndefined();
    expect(chat.complaints).toEqual([]);
  });

  it("goes on with the answer that is on its way when it is loaded again, and stops it when you say so", async () => {
    const { server, chat } = await open();
    server.hold();
    await chat.say("help");
    const held = await chat.heldAnswer();
    await chat.page.reload();
    expect(await chat.heldAnswer()).toBe(held);
    expect(await chat.page.locator("article.user").allTextContents()).toEqual(["help"]);
    await server.release();
    await chat.idle();
    const whole = await chat.answer();
    expect(whole.length).toBeGreaterThan(held.length);

    // The answer ends after the page has loaded its messages, and before it asks for the stream.
    server.hold();
    await chat.say("help");
    await chat.heldAnswer();
    await chat.page.route("**/stream", async (route) => {
      await server.release();
      await expect.poll(() => server.countMessages(chat.page.url())).toBe(4);
      await route.continue();
    });
    await chat.page.reload();
    await expect.poll(() => chat.page.locator("article").count()).toBe(4);
    await chat.idle();
    expect(await chat.answer()).toBe(whole);
    await chat.page.unrouteAll();

    server.hold();
    await chat.say("list files");
    await chat.heldAnswer();
    await chat.button("Stop").click();
    await chat.page.getByText("Stopped.").waitFor();
    await server.release();
    await chat.idle();
    await chat.page.reload();
    await chat.page.getByText("Stopped.").waitFor();
    expect(chat.complaints).toEqual([]);
  });

  it("shows how far the answer came when its server was killed, and goes on with the next server", async () => {
    const { server, chat } = await open();
    server.hold();
    await chat.say("help");
    const held = await chat.heldAnswer();
    await server.kill();
    await chat.page.getByText("The server is away.").waitFor();
    await server.release();
    await server.begin();
    await chat.page.getByText("The server stopped while the turn was running.").waitFor();
    await chat.idle();
    expect(await chat.answer()).toBe(held);
    expect(await chat.page.getByText("The server is away.").count()).toBe(0);
    await chat.say("help");
    await chat.idle();
    await expect.poll(async () => (await chat.answer()).length).toBeGreaterThan(held.length);
    await expect.poll(() => chat.page.locator("article").count()).toBe(4);
  });

  it("keeps what waits for you over a killed server, and does it once when you approve then", async () => {
    const { server, chat } = await open();
    await chat.say("write milk.txt: two litres");
    await chat.call.getByText("waits for you").waitFor();
    await server.kill();
    await server.begin();
    await chat.page.reload();
    await chat.call.getByText("waits for you").waitFor();
    await chat.button("Approve").click();
    await chat.call.getByText("done").waitFor();
    await chat.idle();
    expect(await server.note("milk.txt")).toBe("two litres");
    expect(await chat.page.getByRole("region", { name: /^Call of/u }).count()).toBe(1);
  });

  it("gives back what was said to a server that was away", async () => {
    const { server, chat } = await open();
    await server.kill();
    await chat.say("help");
    await chat.page.getByText("The server is away.").waitFor();
    await server.begin();
    await chat.idle();
    await expect.poll(() => chat.page.getByLabel("Your message").inputValue()).toBe("help");
    await chat.button("Send").click();
    await expect.poll(() => chat.answer()).toMatch(/\S/u);
  });

  it("opens nothing without the token", async () => {
    const { server, browser } = await open();
    const { origin } = new URL(server.link);
    expect((await fetch(`${origin}/api/chat/chat-12345678/messages`)).status).toBe(401);
    const page = await (await browser.newContext()).newPage();
    await page.goto(origin);
    await page.getByText("it names a token").waitFor();
    await page.context().close();
  });
});
