import { isStreamFrame, type ShellError, type ShellRequest } from "@harnesskit/protocol/openharness";
import {
  BoundedSet,
  type Channel,
  ConnectionClosedError,
  createDeferred,
  type Deferred,
  FaultRun,
  HarnessError,
} from "@harnesskit/wire";
import type { ShellDiagnostic } from "./shell-outcome.ts";
import type { FrameReader } from "./streaming/frame-reader.ts";
import { cancelMessage, isCallersChoice, resumeMessage } from "./streaming/stream-call.ts";

/** A request that waits for its response. */
interface Pending extends Deferred<unknown> {
  readonly request: ShellRequest;
  /** Where the response can be a stream. */
  readonly reader: FrameReader | undefined;
  /** The last `seq` that frames were asked for behind. */
  askedBehind?: number;
}

/** The engine does not go on with a stream: the response is had by sending the request again. */
export class StreamLostError extends HarnessError {
  static override readonly brand = "StreamLostError";

  constructor({ code, message }: ShellError) {
    super(code, message ?? "the stream cannot be read any more");
  }
}

/** Streams that were given up and may send on for a moment. */
const maxGivenUp = 256;

/**
 * Requests and responses over one channel. A response is matched by its `request_id`, a frame by its `stream_id`: a message without
 * the id of a pending request is dropped. A channel that carries only such messages is closed.
 */
export class ChannelConnection {
  readonly #channel: Channel;
  readonly #diagnose: (diagnostic: ShellDiagnostic) => void;
  readonly #pending = new Map<string, Pending>();
  readonly #givenUp = new BoundedSet<string>({ maxSize: maxGivenUp });
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

  /**
   * Sends a request, or goes on with the stream of its reader. Rejects with `connection_closed` when the channel closes before the
   * response, and with a {@link StreamLostError}.
   */
  async post(
    requestId: string,
    request: ShellRequest,
    signal: AbortSignal,
    reader?: FrameReader,
  ): Promise<unknown> {
    const pending: Pending = { ...createDeferred<unknown>(), request, reader };
    const forget = () => {
      if (this.#pending.get(requestId) !== pending) return;
      this.#pending.delete(requestId);
      if (reader?.streamId !== undefined) this.#givenUp.add(reader.streamId);
    };
    const onAbort = () => {
      const cancel = reader && cancelMessage(reader, request);
      if (cancel && isCallersChoice(signal.reason)) void this.#channel.send(cancel).catch(() => {});
      forget();
    };
    this.#pending.set(requestId, pending);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      await this.#channel.send((reader && resumeMessage(reader, request)) ?? request);
      return await pending.promise;
    } finally {
      signal.removeEventListener("abort", onAbort);
      forget();
    }
  }

  close(): Promise<void> {
    return this.#channel.close();
  }

  #receive(message: unknown): void {
    if (isStreamFrame(message)) {
      this.#receiveFrame(message as { readonly stream_id: unknown; readonly request_id?: unknown });
      return;
    }
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

  #receiveFrame(frame: { readonly stream_id: unknown; readonly request_id?: unknown }): void {
    const { stream_id: streamId, request_id: requestId } = frame;
    const pending = this.#pendingOf(streamId, requestId);
    if (!pending) {
      if (typeof streamId === "string" && this.#givenUp.has(streamId)) return;
      this.#drop({ code: "late_response", message: "a frame came of a stream that is not read" });
      return;
    }
    const { reader, request } = pending;
    const step = reader.accept(frame);
    if (step.kind === "invalid") {
      this.#drop({ code: "invalid_message", message: "a frame of a stream is not valid" });
      return;
    }
    this.#faults.end();
    if (step.kind === "done") this.#settle(pending, () => pending.resolve(step.response));
    else if (step.kind === "failed")
      this.#settle(pending, () => pending.reject(new StreamLostError(step.error)));
    else if (step.kind === "gap" && pending.askedBehind !== reader.lastSeq) {
      pending.askedBehind = reader.lastSeq;
      const resume = resumeMessage(reader, request);
      if (resume) void this.#channel.send(resume).catch(() => {});
    }
  }

  #settle(pending: Pending, settle: () => void): void {
    for (const [id, one] of this.#pending) if (one === pending) this.#pending.delete(id);
    settle();
  }

  #pendingOf(
    streamId: unknown,
    requestId: unknown,
  ): (Pending & { readonly reader: FrameReader }) | undefined {
    for (const [id, { reader }] of this.#pending) {
      if (!reader) continue;
      const isMeant = reader.streamId === undefined ? id === requestId : reader.streamId === streamId;
      if (isMeant) return this.#pending.get(id) as Pending & { readonly reader: FrameReader };
    }
    return undefined;
  }

  #drop(diagnostic: ShellDiagnostic): void {
    this.#diagnose(diagnostic);
    const flood = this.#faults.add();
    if (flood) void this.#channel.close(flood);
  }
}
