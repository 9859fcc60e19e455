import { describe, expect, it } from "vitest";
import { openContext } from "../../../../test-kit/chromium.ts";
import { BrowserAndServer } from "./support/browser-and-server.ts";
import { expectQuiet, openPage, said } from "./support/chat-page.ts";

const token = "token-of-the-page-tests";
const started = BrowserAndServer.forFile(token);

const openChat = async (options?: Parameters<typeof openContext>[1]) =>
  openPage(await openContext(started.browser, options), started.link);

describe("the page", () => {
  it("says something and shows the answer, and the token leaves the address bar", async () => {
    const chat = await openChat();
    expect(chat.page.url()).toBe(`${started.server.line}/`);
    await chat.say("hello <b>there</b>");
    expect(await said(chat)).toEqual(["hello <b>there</b>", "You said: hello <b>there</b>"]);
    expect(await chat.page.evaluate(() => history.length)).toBeLessThanOrEqual(2);
    expect(await chat.page.evaluate(() => document.activeElement?.id)).toBe("intent");
    expect(await chat.log.getAttribute("aria-live")).toBe("polite");
    expectQuiet(chat);
  });

  it("draws Markdown without its HTML, images and false links, and leaves a result closed", async () => {
    const chat = await openChat();
    await chat.say("markdown");
    const answer = chat.log.locator(".markdown");
    expect(await answer.getByRole("heading", { name: "Found it" }).locator("strong").textContent()).toBe(
      "it",
    );
    expect(
      await answer.getByRole("link").evaluateAll((links) => links.map((link) => link.outerHTML)),
    ).toEqual([
      '<a href="https://evil.example/login" title="https://evil.example/login" target="_blank" rel="noreferrer noopener">the bank</a>',
    ]);
    const text = (await answer.textContent()) ?? "";
    expect(text).toContain("the bank (evil.example)");
    expect(text).toContain("this (javascript:alert(1)) ⟨U+202E⟩");
    expect(text).toContain('<img src=x onerror="window.hacked=1">');
    expect(text).toContain("[image: logo] (https://evil.example/a.png)");
    expect(await answer.locator("img, script").count()).toBe(0);
    expect(await answer.getByRole("cell").allTextContents()).toEqual(["1", "2"]);
    expect(await answer.locator(".code-line").textContent()).toBe("rm -rf build");
    const whole = chat.log.getByText("the whole file");
    expect(await whole.isVisible()).toBe(false);
    await chat.log.getByText("read README.md, 3 lines").click();
    expect(await whole.isVisible()).toBe(true);
    expectQuiet(chat);
  });

  it("shows an answer while it is made, and then the answer alone", async () => {
    const chat = await openChat();
    const { page, log } = chat;
    const field = page.getByLabel("Your message");
    await field.fill("stream");
    await field.press("Enter");
    await log.locator(".preview", { hasText: "Three rooms" }).waitFor();
    const progress = log.locator(".progress", { hasText: "Rooms" });
    await progress.waitFor();
    expect(await log.locator(".previews").getAttribute("aria-hidden")).toBe("true");
    await chat.idle();
    expect([await log.locator(".preview").count(), await progress.count()]).toEqual([0, 0]);
    const [asked, answer] = await said(chat);
    expect([asked, answer]).toEqual(["stream", expect.stringMatching(/^Three rooms .* bedroom\.$/)]);
    // Nothing of a preview is kept.
    await page.reload();
    await log.locator(".bubble.user", { hasText: "stream" }).waitFor();
    expect([await log.locator(".preview").count(), (await said(chat)).length]).toEqual([0, 2]);
    expectQuiet(chat);
  });

  it("is served with a policy that lets in nothing but its own files", async () => {
    const { headers } = await fetch(started.server.line);
    const policy = headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("connect-src 'self';");
    expect(policy).not.toMatch(/unsafe|\*|data:/);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    const other = await fetch(started.server.line.replace("127.0.0.1", "localhost"));
    expect(other.status).toBe(403);
    expect((await fetch(`${started.server.line}/../server.mjs`)).status).toBe(404);
    expect((await fetch(`${started.server.line}/openharness`, { method: "POST", body: "{}" })).status).toBe(
      401,
    );
  });

  it("takes no token from a query, and says where there is no engine", async () => {
    const context = await openContext(started.browser);
    const bare = await openPage(context, `${started.server.line}/?engine=/openharness&token=${token}`);
    await bare.page.getByText("talks with an engine that a link names").waitFor();
    expect(bare.page.url()).toBe(`${started.server.line}/`);
    const far = await openPage(
      context,
      `${started.server.line}/#engine=http://engine.example/&token=${token}`,
    );
    await far.page.getByText("names no engine that can be used").waitFor();
    expect(far.page.url()).toBe(`${started.server.line}/`);
    const wrong = await openPage(
      context,
      `${started.server.line}/#engine=/openharness&token=not-the-token-at-all`,
    );
    await wrong.say("hello");
    await wrong.page.getByText("The engine does not know this token").waitFor();
    // A new link in the same tab counts.
    await wrong.page.goto(`${started.link}&session=other`);
    await wrong.say("hello again");
    expect(await said(wrong)).toEqual(["hello again", "You said: hello again"]);
  });
});

describe("attachments", () => {
  it("are references that go with the message, once", async () => {
    const chat = await openChat();
    await chat.page.getByRole("button", { name: "Attach" }).click();
    await chat.page.getByLabel("Attachments").fill("img/a.png\n\n https://example.com/b.pdf ");
    await chat.say("look");
    expect(await said(chat)).toEqual([
      "look\n[attached: img/a.png]\n[attached: https://example.com/b.pdf]",
      "You said: look (with a.png, https://example.com/b.pdf)",
    ]);
    await chat.say("again");
    expect((await said(chat)).at(-1)).toBe("You said: again");
    expectQuiet(chat);
  });
});

describe("cards", () => {
  it("shows a table as a table", async () => {
    const chat = await openChat();
    await chat.say("table");
    const table = chat.log.getByRole("region", { name: "Rooms" }).last().getByRole("table");
    expect(await table.getByRole("columnheader").allTextContents()).toEqual([
      "room",
      "temperature",
      "humidity",
      "window",
    ]);
    expect(await table.getByRole("row").nth(2).getByRole("cell").allTextContents()).toEqual([
      "Bedroom",
      "18.2",
      "52",
      "open",
    ]);
    expectQuiet(chat);
  });

  it("bounds a table of 10,000 rows, and says so", async () => {
    const chat = await openChat();
    await chat.say("many");
    await chat.log.getByText("Not shown: 9,800 more rows.").waitFor();
    expect(await chat.log.locator("tbody tr").count()).toBe(200);
    expectQuiet(chat);
  });

  it("shows a chart by its figures", async () => {
    const chat = await openChat({ viewport: { width: 380, height: 600 } });
    await chat.say("chart");
    const energy = chat.log.getByRole("region", { name: "Energy" }).last().getByRole("table");
    expect(await energy.getByRole("columnheader").allTextContents()).toEqual([
      "in kWh",
      "used",
      "from the roof",
    ]);
    expect(await energy.getByRole("cell", { name: "11.3" }).count()).toBe(1);
    expectQuiet(chat);
  });

  it("checks a form, and sends its values once", async () => {
    const chat = await openChat();
    await chat.say("form");
    const form = chat.log.locator("form");
    await form.getByLabel("How many people").fill("13");
    await form.getByRole("button", { name: "Book" }).click();
    expect(await form.locator(".problem").allTextContents()).toEqual([
      "This is needed.",
      "At most 12.",
      "This is needed.",
    ]);
    expect(await chat.page.evaluate(() => document.activeElement?.getAttribute("name"))).toBe("name");
    expect(await form.getByLabel("Your name").getAttribute("aria-invalid")).toBe("true");

    await chat.page.keyboard.type("Ada");
    await form.getByLabel("How many people").fill("3");
    await form.getByLabel("Day").fill("2026-12-24");
    await form.getByLabel("Room").selectOption("Study");
    await form.getByLabel("With coffee").check();
    await form.getByRole("button", { name: "Book" }).click();
    const rows = chat.log.getByRole("region", { name: "Your booking" }).last().locator("tbody tr");
    await rows.first().waitFor();
    expect(await rows.allTextContents()).toEqual([
      "nameAda",
      "people3",
      "day2026-12-24",
      "roomStudy",
      "coffeetrue",
    ]);
    expect((await said(chat)).at(1)).toContain("How many people: 3");
    expect(await form.getByRole("button", { name: "Sent" }).isDisabled()).toBe(true);
    expectQuiet(chat);
  });

  it("shows the text of what it cannot show or do", async () => {
    const chat = await openChat();
    await chat.say("map");
    await chat.say("strange");
    await chat.say("odd");
    const texts = await said(chat);
    for (const text of [
      "It is in Vienna.",
      "It would have launched something.",
      "after it",
      "by its text",
      "in its place",
      "a card in words",
      "A form without its fields.",
      "This page cannot show this (chart).",
      "A table without rows.",
    ]) {
      expect(texts).toContain(text);
    }
    await chat.log.getByText("something that this page cannot do (com.example.quiet)").waitFor();
    await chat.log.getByText("Something was not shown (render_message)").waitFor();
    await chat.log.getByText("An approval could not be asked: the payload does not fit its type").waitFor();
    await chat.log.getByText("An approval could not be asked: this page cannot do simulate_action").waitFor();
    expectQuiet(chat);
  });

  it("shows hostile texts as texts", async () => {
    const chat = await openChat({ viewport: { width: 380, height: 700 } });
    await chat.say("hostile");
    const texts = await said(chat);
    expect(texts[1]).toBe('<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>');
    expect(texts[2]).toBe("invoice⟨U+202E⟩gpj.exe");
    expect(texts[3]).toHaveLength(5_000);
    expect(await chat.log.locator("img, script, iframe, a").count()).toBe(0);
    expect(await chat.log.getByRole("heading").first().textContent()).toContain("<img src=x");
    expect(await chat.log.getByRole("table").count()).toBeGreaterThan(0);
    expect(await chat.page.evaluate(() => "hacked" in window)).toBe(false);
    expect(await chat.tooWide()).toBe(0);
    expectQuiet(chat);
  });
});
