import { isStreamFrame } from "@harnesskit/protocol/openharness";
import {
  BoundedSet,
  type Channel,
  ConnectionClosedError,
  createDeferred,
  type Deferred,
  FaultRun,
  type Transport,
} from "@harnesskit/wire";
import type { Engine, EngineCall, SendableRequest } from "./engine.ts";
import type { ShellDiagnostic } from "./shell-outcome.ts";
import { FrameReader, isCallersChoice } from "./streaming/frame-reader.ts";
import type { StreamFact } from "./streaming/stream-events.ts";

/** A request that waits for its response, and the reader of its stream, where it may be one. */
interface Pending extends Deferred<unknown> {
  readonly id: string;
  readonly reader: FrameReader | undefined;
}

/** Streams that were given up and may send on. */
const maxGivenUp = 256;

/**
 * An engine behind a transport: one channel at a time, opened by the request that finds none. OpenHarness has no handshake. A
 * message without the id of a pending request is dropped.
 */
export class ChannelEngine implements Engine {
  readonly canStream = true;
  readonly #transport: Transport;
  readonly #diagnose: (diagnostic: ShellDiagnostic) => void;
  readonly #closed = new AbortController();
  readonly #pending = new Map<string, Pending>();
  /** Their frames are no faults: other calls share the channel. */
  readonly #givenUp = new BoundedSet<unknown>({ maxSize: maxGivenUp });
  #faults = new FaultRun();
  #channel: Promise<Channel> | undefined;

  constructor(transport: Transport, diagnose: (diagnostic: ShellDiagnostic) => void) {
    this.#transport = transport;
    this.#diagnose = diagnose;
  }

  async post(request: SendableRequest, { signal }: EngineCall, onFact?: (fact: StreamFact) => void) {
    const channel = await this.#connect();
    if (signal.aborted) throw signal.reason;
    const { request_id: id } = request;
    const reader = onFact && new FrameReader(request, onFact);
    const pending: Pending = { ...createDeferred<unknown>(), id, reader };
    const forget = () => {
      if (this.#pending.get(id) === pending) this.#pending.delete(id);
    };
    const onAbort = () => {
      forget();
      if (!reader?.cancelMessage) return;
      this.#givenUp.add(reader.streamId);
      if (isCallersChoice(signal.reason)) void channel.send(reader.cancelMessage).catch(() => {});
    };
    this.#pending.set(id, pending);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await channel.send(request);
      return await pending.promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
      forget();
    }
  }

  async close(): Promise<void> {
    this.#closed.abort();
    const channel = await this.#channel?.catch(() => undefined);
    await channel?.close();
  }

  /** Requests that come together share the channel that is opened, whoever of them gives up. */
  #connect(): Promise<Channel> {
    if (this.#closed.signal.aborted) return Promise.reject(new ConnectionClosedError());
    if (!this.#channel) {
      const opening = this.#open();
      this.#channel = opening;
      const forget = () => {
        if (this.#channel === opening) this.#channel = undefined;
      };
      opening.then(({ closed }) => closed.then(forget), forget);
    }
    return this.#channel;
  }

  async #open(): Promise<Channel> {
    const channel = await this.#transport.connect({ signal: this.#closed.signal });
    if (channel.signal.aborted) throw new ConnectionClosedError();
    this.#faults = new FaultRun();
    channel.start({
      message: (message) => this.#receive(message, channel),
      error: ({ code }) => this.#drop("invalid_message", `${code}: not a valid message`, channel),
      close: ({ error }) => {
        const lost = new ConnectionClosedError(undefined, error && { cause: error });
        for (const pending of this.#pending.values()) pending.reject(lost);
        this.#pending.clear();
      },
    });
    return channel;
  }

  #receive(message: unknown, channel: Channel): void {
    const { request_id: id, stream_id: streamId } = (message ?? {}) as {
      readonly request_id?: unknown;
      readonly stream_id?: unknown;
    };
    const isFrame = isStreamFrame(message);
    const pending =
      this.#pending.get(id as string) ??
      (isFrame ? [...this.#pending.values()].find(({ reader }) => reader?.streamId === streamId) : undefined);
    const reader = isFrame ? pending?.reader : undefined;
    if (!pending && isFrame && this.#givenUp.has(streamId)) return;
    if (!pending || (isFrame && !reader)) {
      this.#drop("late_response", "a message came that no request waits for", channel);
    } else if (reader && !reader.accept(message)) {
      this.#drop("invalid_message", "a frame of a stream is not valid", channel);
    } else {
      this.#faults.end();
      if (reader && !reader.end) return;
      this.#pending.delete(pending.id);
      pending.resolve(reader?.end ? reader.end.response : message);
    }
  }

  /** A channel that carries only what is dropped is closed. */
  #drop(code: ShellDiagnostic["code"], message: string, channel: Channel): void {
    this.#diagnose({ code, message });
    const flood = this.#faults.add();
    if (flood) void channel.close(flood);
  }
}
