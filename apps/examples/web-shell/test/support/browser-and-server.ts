import type { Browser } from "playwright-core";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { launchChromium, needChromium } from "../../../../../test-kit/chromium.ts";
import { type ServerProcess, startProgram } from "../../../../../test-kit/server-process.ts";

/** The engine that says what no engine should. */
export const hostileServer = new URL("../fixtures/hostile-server.mjs", import.meta.url);

/** One browser and one server for all tests of a file; these are skipped where there is no browser. */
export class BrowserAndServer {
  #browser: Browser | undefined;
  #server: ServerProcess | undefined;
  readonly #token: string;

  private constructor(token: string) {
    this.#token = token;
  }

  /** Call it outside of the tests. The token is the server's. */
  static forFile(token: string): BrowserAndServer {
    const both = new BrowserAndServer(token);
    beforeAll(() => both.#start());
    afterAll(() => both.#stop());
    beforeEach((test) => needChromium(test));
    return both;
  }

  get browser(): Browser {
    return this.#browser as Browser;
  }

  get server(): ServerProcess {
    return this.#server as ServerProcess;
  }

  /** The address that opens the page with its engine. */
  get link(): string {
    return `${this.server.line}/#engine=/openharness&token=${this.#token}`;
  }

  async #start(): Promise<void> {
    this.#browser = await launchChromium();
    if (!this.#browser) return;
    this.#server = await startProgram(hostileServer, { TOKEN: this.#token });
  }

  async #stop(): Promise<void> {
    await this.#browser?.close();
    await this.#server?.stop();
  }
}
