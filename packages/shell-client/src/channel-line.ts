import type { ShellRequest } from "@harnesskit/protocol/openharness";
import {
  type Channel,
  ConnectionClosedError,
  createDeferred,
  type Deferred,
  FaultRun,
  type HarnessError,
} from "@harnesskit/wire";
import type { EngineCall } from "./engine-endpoint.ts";
import type { EngineLine } from "./engine-line.ts";
import type { ShellDiagnostic } from "./shell-outcome.ts";

/**
 * Requests and responses over one channel. A response is told by its `request_id`: one that has none, or the id of no request that
 * waits, is dropped. A channel that carries nothing but such is closed.
 */
export class ChannelLine implements EngineLine {
  readonly #channel: Channel;
  readonly #diagnose: (diagnostic: ShellDiagnostic) => void;
  readonly #waiting = new Map<string, Deferred<unknown>>();
  readonly #faults = new FaultRun();
  #isStarted = false;

  constructor(channel: Channel, diagnose: (diagnostic: ShellDiagnostic) => void) {
    this.#channel = channel;
    this.#diagnose = diagnose;
  }

  async post(requestId: string, message: ShellRequest, { signal }: EngineCall): Promise<unknown> {
    this.#start();
    if (this.#channel.signal.aborted) throw new ConnectionClosedError();
    const waiting = createDeferred<unknown>();
    const forget = () => {
      if (this.#waiting.get(requestId) === waiting) this.#waiting.delete(requestId);
    };
    this.#waiting.set(requestId, waiting);
    signal.addEventListener("abort", forget, { once: true });
    try {
      await this.#channel.send(message);
      return await waiting.promise;
    } finally {
      signal.removeEventListener("abort", forget);
      forget();
    }
  }

  async close(): Promise<void> {
    await this.#channel.close();
  }

  #start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#channel.start({
      message: (message) => this.#take(message),
      error: (error) =>
        this.#drop({ code: "invalid_message", message: `${error.code}: what came is no message` }),
      close: ({ error }) => this.#end(error),
    });
  }

  #take(message: unknown): void {
    const id =
      typeof message === "object" && message !== null && Object.hasOwn(message, "request_id")
        ? (message as { request_id: unknown }).request_id
        : undefined;
    const waiting = typeof id === "string" ? this.#waiting.get(id) : undefined;
    if (waiting === undefined) {
      this.#drop({ code: "late_response", message: "a message came that no request waits for" });
      return;
    }
    this.#faults.end();
    this.#waiting.delete(id as string);
    waiting.resolve(message);
  }

  #drop(diagnostic: ShellDiagnostic): void {
    this.#diagnose(diagnostic);
    const flood = this.#faults.add();
    if (flood) void this.#channel.close(flood);
  }

  #end(error: HarnessError | undefined): void {
    const closed = new ConnectionClosedError(undefined, error && { cause: error });
    for (const waiting of this.#waiting.values()) waiting.reject(closed);
    this.#waiting.clear();
  }
}
