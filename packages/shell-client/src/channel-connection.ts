import type { ShellRequest } from "@harnesskit/protocol/openharness";
import {
  type Channel,
  ConnectionClosedError,
  createDeferred,
  type Deferred,
  FaultRun,
  type HarnessError,
} from "@harnesskit/wire";
import type { ShellDiagnostic } from "./shell-outcome.ts";

/**
 * Requests and responses over one channel. A response is matched by its `request_id`: a message without the id of a pending
 * request is dropped. A channel that carries only such messages is closed.
 */
export class ChannelConnection {
  readonly #channel: Channel;
  readonly #diagnose: (diagnostic: ShellDiagnostic) => void;
  readonly #pending = new Map<string, Deferred<unknown>>();
  readonly #faults = new FaultRun();

  /** Starts the channel. `onOver` is called once, when it is closed. */
  constructor(
    channel: Channel,
    diagnose: (diagnostic: ShellDiagnostic) => void,
    onOver: (error?: HarnessError) => void,
  ) {
    this.#channel = channel;
    this.#diagnose = diagnose;
    channel.start({
      message: (message) => this.#receive(message),
      error: (error) =>
        this.#drop({ code: "invalid_message", message: `${error.code}: not a valid message` }),
      close: ({ error }) => {
        const closed = new ConnectionClosedError(undefined, error && { cause: error });
        for (const pending of this.#pending.values()) pending.reject(closed);
        this.#pending.clear();
        onOver(error);
      },
    });
  }

  /** Rejects with `connection_closed` when the channel closes before the response. */
  async post(requestId: string, message: ShellRequest, signal: AbortSignal): Promise<unknown> {
    const pending = createDeferred<unknown>();
    const forget = () => {
      if (this.#pending.get(requestId) === pending) this.#pending.delete(requestId);
    };
    this.#pending.set(requestId, pending);
    signal.addEventListener("abort", forget, { once: true });
    try {
      await this.#channel.send(message);
      return await pending.promise;
    } finally {
      signal.removeEventListener("abort", forget);
      forget();
    }
  }

  close(): Promise<void> {
    return this.#channel.close();
  }

  #receive(message: unknown): void {
    const id =
      typeof message === "object" && message !== null && Object.hasOwn(message, "request_id")
        ? (message as { request_id: unknown }).request_id
        : undefined;
    const pending = typeof id === "string" ? this.#pending.get(id) : undefined;
    if (pending === undefined) {
      this.#drop({ code: "late_response", message: "a message came that no request waits for" });
      return;
    }
    this.#faults.end();
    this.#pending.delete(id as string);
    pending.resolve(message);
  }

  #drop(diagnostic: ShellDiagnostic): void {
    this.#diagnose(diagnostic);
    const flood = this.#faults.add();
    if (flood) void this.#channel.close(flood);
  }
}
