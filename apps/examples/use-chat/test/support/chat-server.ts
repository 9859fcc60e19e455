import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { complaintsOf, openContext } from "../../../../../test-kit/chromium.ts";
import { type ServerProcess, startProgram } from "../../../../../test-kit/server-process.ts";

const token = "token-of-the-chat-page-tests";

/** The example's server in a process of its own, which can be killed and started again over the same files. */
export class ChatServer {
  readonly #directory = mkdtempSync(join(tmpdir(), "use-chat-"));
  readonly #hold = join(this.#directory, "hold");
  #process: ServerProcess | undefined;
  #port = "0";

  /** A server until the test is finished. */
  static async start(): Promise<ChatServer> {
    const server = new ChatServer();
    onTestFinished(async () => {
      await server.kill();
      rmSync(server.#directory, { recursive: true, force: true });
    });
    await server.begin();
    return server;
  }

  get link(): string {
    return `http://127.0.0.1:${this.#port}/#token=${token}`;
  }

  /** Starts it, the second time on the same port. */
  async begin(): Promise<void> {
    const env = { HOLD: this.#hold, DATA: join(this.#directory, "data"), TOKEN: token, PORT: this.#port };
    this.#process = await startProgram(new URL("../fixtures/held-server.mjs", import.meta.url), env);
    this.#port = new URL(this.#process.line).port;
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    await this.#process?.stop();
  }

  /** Answers stop in the middle from now on. */
  hold(): void {
    writeFileSync(this.#hold, "");
  }

  release(): Promise<void> {
    return rm(this.#hold, { force: true });
  }

  /** How many messages the chat of a page has, by the page's address. */
  async countMessages(url: string): Promise<number> {
    const chatId = new URLSearchParams(new URL(url).hash.slice(1)).get("chat");
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(new URL(`/api/chat/${chatId}/messages`, url), { headers });
    return ((await response.json()) as unknown[]).length;
  }

  /** A note that the agent has written; undefined where it has not. */
  note(name: string): Promise<string | undefined> {
    return readFile(join(this.#directory, "data/notes", name), "utf8").catch(() => undefined);
  }
}

/** The page of a chat, in a browser's profile of its own. */
export class ChatPage {
  readonly complaints: string[];

  private constructor(readonly page: Page) {
    this.complaints = complaintsOf(page);
  }

  static async open(browser: Parameters<typeof openContext>[0], link: string): Promise<ChatPage> {
    const page = await (await openContext(browser)).newPage();
    const chat = new ChatPage(page);
    await page.goto(link);
    await page.getByLabel("Your message").waitFor();
    return chat;
  }

  async say(text: string): Promise<void> {
    await this.page.getByLabel("Your message").fill(text);
    await this.page.getByRole("button", { name: "Send" }).click();
  }

  /** Waits until nothing is on its way and nothing waits. */
  async idle(): Promise<void> {
    await this.page.getByRole("button", { name: "Send" }).waitFor();
  }

  button(name: string) {
    return this.page.getByRole("button", { name, exact: true });
  }

  get call() {
    return this.page.getByRole("region", { name: /^Call of/u }).last();
  }

  /** What the last answer says. */
  async answer(): Promise<string> {
    return (await this.page.locator("article.assistant").last().locator(".text").allTextContents()).join("");
  }

  /** Waits for an answer that has begun and goes no further. */
  async heldAnswer(): Promise<string> {
    await expect.poll(() => this.answer(), { timeout: 15_000 }).toMatch(/\S/u);
    let answer = "";
    // Held is what two looks in a row show.
    await expect
      .poll(async () => {
        const before = answer;
        answer = await this.answer();
        return answer !== "" && answer === before;
      })
      .toBe(true);
    return answer;
  }
}
