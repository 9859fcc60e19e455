import { createDeferred } from "@harnesskit/wire";
import type { BrowserContext, Route } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { openContext } from "../../../../test-kit/chromium.ts";
import { startProgram } from "../../../../test-kit/server-process.ts";
import { BrowserAndServer, hostileServer } from "./support/browser-and-server.ts";
import { type ChatPage, expectQuiet, openPage, said } from "./support/chat-page.ts";

const token = "token-of-the-approval-tests";
const started = BrowserAndServer.forFile(token);

const openChat = async (context?: BrowserContext) =>
  openPage(context ?? (await openContext(started.browser)), started.link);
const cardOf = ({ log }: ChatPage) =>
  log.getByRole("region", { name: "delete_file: call it with this input" });

/** Holds the next request back; gives what lets it go, once it is there. */
const holdRequest = async ({ page }: ChatPage): Promise<() => Promise<void>> => {
  const held = createDeferred<Route>();
  await page.route("**/openharness", (route) => held.resolve(route), { times: 1 });
  return async () => (await held.promise).continue();
};

const button = (chat: ChatPage, name: string) => cardOf(chat).getByRole("button", { name });

it("asks with tool, input and risk, by keys alone, and is answered once", async () => {
  const chat = await openChat();
  await chat.say("approve");
  const card = cardOf(chat);
  expect(await card.getByText("High risk").isVisible()).toBe(true);
  expect(await card.getByRole("heading").textContent()).toBe("delete_file: call it with this input");
  expect(await card.getByText("Delete a file?").isVisible()).toBe(true);
  await chat.page.getByText("Waiting for you: answer the question above.").waitFor();
  expect(JSON.parse((await card.locator("pre").textContent()) ?? "")).toEqual({
    path: "notes/2025.md",
    recursive: false,
  });
  // The card has the focus, and no button of it: what is typed ahead answers nothing.
  expect(await card.evaluate((element) => element === document.activeElement)).toBe(true);
  await chat.page.keyboard.press("Enter");
  await chat.page.keyboard.press("Space");
  expect(await said(chat)).toEqual(["approve"]);

  await card.getByLabel("Reason").focus();
  await chat.page.keyboard.type("it is old");
  await expect.poll(() => button(chat, "Approve").isEnabled(), { timeout: 10_000 }).toBe(true);
  await chat.page.keyboard.press("Tab");
  await chat.page.keyboard.press("Enter");
  await chat.log.getByText("You approved this. Reason: it is old").waitFor();
  await chat.idle();
  expect(await said(chat)).toEqual(["approve", "Deleted notes/2025.md. You said: it is old"]);
  expect(await card.getByRole("button").count()).toBe(0);
  expect(await chat.page.evaluate(() => document.activeElement?.id)).toBe("intent");
  expectQuiet(chat);
});

it("refuses with a reason", async () => {
  const chat = await openChat();
  await chat.say("approve");
  await cardOf(chat).getByLabel("Reason").fill("I need them");
  await button(chat, "Refuse").click();
  await chat.log.getByText("You refused this. Reason: I need them").waitFor();
  await chat.idle();
  expect((await said(chat)).at(-1)).toBe("Nothing was deleted. You said: I need them");
  expectQuiet(chat);
});

it("leaves the focus with who is writing, and what waits waiting while other things are said", async () => {
  const chat = await openChat();
  const release = await holdRequest(chat);
  const field = chat.page.getByLabel("Your message");
  await field.fill("approve");
  await field.press("Enter");
  await chat.page.getByRole("button", { name: "Stop" }).waitFor();
  await field.pressSequentially("by the way");
  await release();
  await cardOf(chat).waitFor();
  expect(await chat.page.evaluate(() => document.activeElement?.id)).toBe("intent");
  await chat.idle();
  await field.press("Enter");
  await chat.log.getByText("You said: by the way").waitFor();
  await chat.idle();
  await button(chat, "Approve").click();
  await chat.log.getByText("Deleted notes/2025.md.").waitFor();
  expectQuiet(chat);
});

it("goes on with the conversation and the question after a reload", async () => {
  const chat = await openChat();
  await chat.say("hello");
  await chat.say("form");
  await chat.say("approve");
  await chat.page.reload();
  expect(await said(chat)).toEqual(["hello", "You said: hello", "form", "approve"]);
  await button(chat, "Approve").click();
  await chat.log.getByText("Deleted notes/2025.md.").waitFor();
  await chat.page.reload();
  await chat.log.getByText("You approved this.").waitFor();
  expect(await cardOf(chat).getByRole("button").count()).toBe(0);
  await chat.page.getByRole("button", { name: "New conversation" }).click();
  await chat.page.getByText("Nothing was said here yet").waitFor();
  expect(await said(chat)).toEqual([]);
  await chat.page.getByRole("button", { name: "Check for pending approvals" }).click();
  await chat.log.getByText("Nothing waits.").waitFor();
  expectQuiet(chat);
});

it("tells the second of two tabs that it was answered elsewhere", async () => {
  const context = await openContext(started.browser);
  const first = await openChat(context);
  await first.say("approve");
  const second = await openChat(context);
  await cardOf(second).waitFor();
  // The first one's answer is on its way while the second one's arrives.
  const release = await holdRequest(first);
  await button(first, "Approve").click();
  expect(await button(first, "Approve").isDisabled()).toBe(true);
  await button(second, "Refuse").click();
  await second.log.getByText("You refused this.").waitFor();
  await second.log.getByText("Nothing was deleted.").waitFor();
  await release();
  await first.idle();
  await first.log.getByText("Nothing was deleted.").waitFor();
  expect(await said(first)).not.toContain("Deleted notes/2025.md.");
  expect(await cardOf(first).getByRole("button").count()).toBe(0);
  for (const chat of [first, second]) expectQuiet(chat);
});

it("learns from the engine that another shell was first", async () => {
  const first = await openChat();
  await first.say("approve");
  const kept = await first.page.evaluate(() => ({ ...localStorage }));
  const state = Object.entries(kept).map(([name, value]) => ({ name, value }));
  const storageState = { cookies: [], origins: [{ origin: started.server.line, localStorage: state }] };
  // The same conversation in another browser.
  const second = await openPage(await openContext(started.browser, { storageState }), started.link);
  await button(second, "Approve").click();
  await second.log.getByText("Deleted notes/2025.md.").waitFor();
  await button(first, "Refuse").click();
  await first.log.getByText("This was answered elsewhere.").waitFor();
  await first.idle();
  expect(await said(first)).toEqual(["approve"]);
  expect(await first.log.locator(".error").count()).toBe(0);
  for (const chat of [first, second]) expectQuiet(chat);
});

it("asks before a directive that wants it, and shows all of what is approved as text", async () => {
  const chat = await openChat();
  const field = chat.page.getByLabel("Your message");
  await field.fill("careful");
  await field.press("Enter");
  const card = chat.log.getByRole("region", { name: "The engine wants to do this" });
  await card.getByText("render_message").waitFor();
  expect(await said(chat)).toEqual(["careful"]);
  await card.getByRole("button", { name: "Approve" }).click();
  await chat.log.getByText("You approved this.").waitFor();
  await chat.idle();
  expect((await said(chat)).at(-1)).toBe("shown after a yes");

  await chat.say("trap");
  const trap = chat.log.getByRole("region", { name: "read⟨U+202E⟩" });
  const parts = await trap.locator("pre").allTextContents();
  expect(parts[0]).toContain("<img src=x");
  expect(parts.at(-1)).toMatch(/fine_print[\s\S]*"tool": "look"/);
  expect(await trap.getByRole("heading").textContent()).toContain("read⟨U+202E⟩");
  expect(await trap.locator("img").count()).toBe(0);
  expect(await chat.page.evaluate(() => "hacked" in window)).toBe(false);
  expectQuiet(chat);
});

it("keeps what it said and the question while the engine is away, and goes on when it is back", async () => {
  const own = await startProgram(hostileServer, { TOKEN: token });
  onTestFinished(() => own.stop());
  const port = new URL(own.line).port;
  const context = await openContext(started.browser);
  const chat = await openPage(context, `${own.line}/#engine=/openharness&token=${token}`);
  await chat.say("hello");
  await own.stop();
  await chat.say("are you there?");
  await chat.log.getByText("The engine cannot be reached.").waitFor();
  const back = await startProgram(hostileServer, { TOKEN: token, PORT: port });
  onTestFinished(() => back.stop());
  await chat.log.getByRole("button", { name: "Try again" }).click();
  await chat.log.getByText("You said: are you there?").waitFor();
  expect(await chat.log.getByRole("button", { name: "Try again" }).count()).toBe(0);
  await chat.say("fail");
  await chat.idle();
  expect(await said(chat)).toContain("This time it went well.");
  // The browser itself says that it could not connect; nothing else was wrong.
  expect(chat.complaints.filter((text) => !text.includes("ERR_CONNECTION_REFUSED"))).toEqual([]);
});
