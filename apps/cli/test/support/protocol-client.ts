import { vi } from "vitest";
import type { RunningProgram } from "./harness.ts";

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { code: number; message: string; data?: Record<string, unknown> };
}

/** Speaks the protocol with `harness serve`, one JSON line at a time. Every line of its output must be JSON-RPC. */
export class ProtocolClient {
  #nextId = 1;

  constructor(readonly program: RunningProgram) {}

  /** What the server has written so far. Throws for a line that is no JSON. */
  get messages(): Message[] {
    const whole = this.program.stdout.slice(0, this.program.stdout.lastIndexOf("\n") + 1);
    return whole
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Message);
  }

  async call(method: string, params: Record<string, unknown> = {}): Promise<Message> {
    const id = this.#nextId++;
    this.program.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return this.#wait((message) => message.id === id);
  }

  notified(method: string): Promise<Message> {
    return this.#wait((message) => message.method === method);
  }

  async createThread(): Promise<string> {
    const { result } = await this.call("thread.create", { title: "Test" });
    const { threadId } = (result?.thread ?? {}) as { threadId?: string };
    if (threadId === undefined) throw new RangeError("no thread was made");
    return threadId;
  }

  startTurn(threadId: string, text: string, more: Record<string, unknown> = {}): Promise<Message> {
    return this.call("turn.start", { threadId, input: [{ type: "text", text }], ...more });
  }

  #wait(matches: (message: Message) => boolean): Promise<Message> {
    return vi.waitFor(
      () => {
        const found = this.messages.find(matches);
        if (!found) throw new RangeError(`not yet: ${this.program.stdout}\n${this.program.stderr}`);
        return found;
      },
      { timeout: 15_000, interval: 20 },
    );
  }
}
