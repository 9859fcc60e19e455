import type { Running } from "./harness.ts";
import { eventually } from "./harness.ts";

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { code: number; message: string; data?: Record<string, unknown> };
}

/** Speaks the protocol with `harness serve`, one JSON line at a time. Every line of its output must be JSON-RPC. */
export class ProtocolClient<Program extends Running = Running> {
  #nextId = 1;
  readonly #messages: Message[] = [];
  /** Characters of the output that were read. */
  #read = 0;

  constructor(readonly program: Program) {}

  /** What the server has written so far; the same array at every call. Throws for a line that is not JSON. */
  get messages(): readonly Message[] {
    const end = this.program.stdout.lastIndexOf("\n") + 1;
    // Tests ask again and again, so that each line is parsed only once.
    const lines = this.program.stdout.slice(this.#read, end).split("\n");
    for (const line of lines) if (line !== "") this.#messages.push(JSON.parse(line) as Message);
    this.#read = Math.max(this.#read, end);
    return this.#messages;
  }

  async call(method: string, params: Record<string, unknown> = {}): Promise<Message> {
    const id = this.#nextId++;
    this.program.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return this.#wait((message) => message.id === id);
  }

  notified(method: string): Promise<Message> {
    return this.#wait((message) => message.method === method);
  }

  /** Settles with all notifications of a method when there are so many. */
  async several(method: string, count: number): Promise<readonly Message[]> {
    const found = () => this.messages.filter((message) => message.method === method);
    await this.#wait(() => found().length >= count);
    return found();
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
    return eventually(() => {
      const found = this.messages.find(matches);
      if (!found)
        throw new RangeError(`not yet: ${this.program.stdout.slice(-2000)}\n${this.program.stderr}`);
      return found;
    });
  }
}
