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
  readonly reader: FrameReader | undefined;
}

/** Streams that were given up and may send on for a moment. */
const maxGivenUp = 256;

/** Requests and responses over one channel. A message without the id of a pending request is dropped. */
class Connection {
  readonly channel: Channel;
  readonly #diagnose: (diagnostic: ShellDiagnostic) => void;
  readonly #pending = new Map<string, Pending>();
  readonly #givenUp = new BoundedSet<string>({ maxSize: maxGivenUp });
  readonly #faults = new FaultRun();

  constructor(channel: Channel, diagnose: (diagnostic: ShellDiagnostic) => void) {
    this.channel = channel;
    this.#diagnose = diagnose;
    channel.start({
      message: (message) => this.#receive(message),
      error: ({ code }) => this.#drop({ code: "invalid_message", message: `${code}: not a valid message` }),
      close: ({ error }) => {
        const closed = new ConnectionClosedError(undefined, error && { cause: error });
        for (const pending of this.#pending.values()) pending.reject(closed);
      },
    });
  }

  async post(request: SendableRequest, signal: AbortSignal, reader?: FrameReader): Promise<unknown> {
    const { request_id: id } = request;
    const pending: Pending = { ...createDeferred<unknown>(), reader };
    const forget = () => {
      if (this.#pending.get(id) === pending) this.#pending.delete(id);
    };
    const onAbort = () => {
      forget();
      if (!reader?.cancelMessage) return;
      this.#givenUp.add(reader.cancelMessage.stream_id);
      if (isCallersChoice(signal.reason)) void this.channel.send(reader.cancelMessage).catch(() => {});
    };
    this.#pending.set(id, pending);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await this.channel.send(request);
      return await pending.promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
      forget();
    }
  }

  #receive(message: unknown): void {
    const { request_id: id, stream_id: streamId } = (message ?? {}) as {
      readonly request_id?: unknown;
      readonly stream_id?: unknown;
    };
    if (isStreamFrame(message)) {
      this.#receiveFrame(message, streamId, id);
      return;
    }
    const pending = typeof id === "string" ? this.#pending.get(id) : undefined;
    if (pending === undefined) {
      this.#drop({ code: "late_response", message: "a message came that no request waits for" });
      return;
    }
    this.#faults.end();
    this.#pending.delete(id as string);
    pending.resolve(message);
  }

  #receiveFrame(frame: unknown, streamId: unknown, requestId: unknown): void {
    for (const [id, pending] of this.#pending) {
      const { reader } = pending;
      if (!reader || (reader.streamId === undefined ? id !== requestId : reader.streamId !== streamId))
        continue;
      if (reader.accept(frame)) this.#faults.end();
      else this.#drop({ code: "invalid_message", message: "a frame of a stream is not valid" });
      if (reader.end) {
        this.#pending.delete(id);
        pending.resolve(reader.end.response);
      }
      return;
    }
    if (typeof streamId === "string" && this.#givenUp.has(streamId)) return;
    this.#drop({ code: "late_response", message: "a frame came of a stream that is not read" });
  }

  /** A channel that carries only what is dropped is closed. */
  #drop(diagnostic: ShellDiagnostic): void {
    this.#diagnose(diagnostic);
    const flood = this.#faults.add();
    if (flood) void this.channel.close(flood);
  }
}

/** An engine behind a transport: one channel at a time, opened by the request that finds none. OpenHarness has no handshake. */
export class ChannelEngine implements Engine {
  readonly canStream = true;
  readonly #transport: Transport;
  readonly #diagnose: (diagnostic: ShellDiagnostic) => void;
  readonly #closed = new AbortController();
  #connection: Promise<Connection> | undefined;

  constructor(transport: Transport, diagnose: (diagnostic: ShellDiagnostic) => void) {
    this.#transport = transport;
    this.#diagnose = diagnose;
  }

  async post(request: SendableRequest, { signal }: EngineCall, onFact?: (fact: StreamFact) => void) {
    const connection = await this.#connect();
    if (signal.aborted) throw signal.reason;
    return connection.post(request, signal, onFact && new FrameReader(request, onFact));
  }

  async close(): Promise<void> {
    this.#closed.abort();
    const connection = await this.#connection?.catch(() => undefined);
    await connection?.channel.close();
  }

  /** Requests that come together share the channel that is opened, whoever of them gives up. */
  #connect(): Promise<Connection> {
    if (this.#closed.signal.aborted) return Promise.reject(new ConnectionClosedError());
    if (!this.#connection) {
      const connection = this.#open();
      this.#connection = connection;
      const forget = () => {
        if (this.#connection === connection) this.#connection = undefined;
      };
      connection.then(({ channel }) => channel.closed.then(forget), forget);
    }
    return this.#connection;
  }

  async #open(): Promise<Connection> {
    const channel = await this.#transport.connect({ signal: this.#closed.signal });
    if (channel.signal.aborted) throw new ConnectionClosedError();
    return new Connection(channel, this.#diagnose);
  }
}
