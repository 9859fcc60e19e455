import type { ShellRequest } from "@harnesskit/protocol/openharness";
import {
  backoffDelayMs,
  isMessageStream,
  type MessageStream,
  type StreamExchange,
  wait,
} from "@harnesskit/wire";
import type { EngineCall } from "../engine-line.ts";
import { FrameReader, type Step } from "./frame-reader.ts";
import {
  cancelMessage,
  isCallersChoice,
  ResumeAttempts,
  resumeMessage,
  type StreamCall,
} from "./stream-call.ts";

/** Reads frames until the response, a failure, a gap, or the end of the connection. */
const readFrames = async (frames: MessageStream, reader: FrameReader): Promise<Step | undefined> => {
  try {
    for await (const { message } of frames) {
      const step = reader.accept(message);
      if (step.kind !== "accepted" && step.kind !== "ignored") return step;
    }
  } catch {
    // The connection broke: what has counted stands, and the rest is asked for.
  }
  return undefined;
};

/** Requests over an exchange whose responses may be streams. */
export class ExchangeStreams {
  readonly #engine: StreamExchange<EngineCall>;
  readonly #cancelling = new Set<Promise<unknown>>();

  constructor(engine: StreamExchange<EngineCall>) {
    this.#engine = engine;
  }

  /**
   * Resolves with the response as it came, also over resumed connections. Where the stream is lost the request is sent again, for
   * its response alone: it has the same id, and is done once. Rejects as the exchange does.
   */
  async post(
    requestId: string,
    request: ShellRequest,
    call: EngineCall,
    stream: StreamCall,
  ): Promise<unknown> {
    const answer = await this.#engine.handleStream(request, call);
    if (!isMessageStream(answer)) return answer;
    const reader = new FrameReader(requestId, stream.onFact);
    const onAbort = () => this.#cancel(reader, request, call, stream.clock);
    call.signal.addEventListener("abort", onAbort, { once: true });
    try {
      const response = await this.#read(answer, reader, request, call, stream);
      if (response !== undefined) return response;
    } finally {
      call.signal.removeEventListener("abort", onAbort);
    }
    call.signal.throwIfAborted();
    stream.onFact({ type: "lost" });
    return this.#engine.handle(request, call);
  }

  /** Waits for cancellations that are on their way. */
  async close(): Promise<void> {
    await Promise.allSettled(this.#cancelling);
  }

  async #read(
    opened: MessageStream,
    reader: FrameReader,
    request: ShellRequest,
    call: EngineCall,
    { backoff, clock }: StreamCall,
  ): Promise<unknown> {
    let frames: MessageStream | undefined = opened;
    const attempts = new ResumeAttempts(reader, backoff);
    for (;;) {
      const step: Step | undefined = frames && (await readFrames(frames, reader));
      if (step?.kind === "done") return step.response;
      const resume = resumeMessage(reader, request);
      if (call.signal.aborted || step?.kind === "failed" || resume === undefined) return undefined;
      const attempt = attempts.next();
      if (attempt === undefined) return undefined;
      await wait(backoffDelayMs(attempt, backoff), clock, call.signal);
      if (call.signal.aborted) return undefined;
      const answer: unknown = await this.#engine.handleStream(resume, call).catch(() => undefined);
      frames = isMessageStream(answer) ? answer : undefined;
    }
  }

  #cancel(
    reader: FrameReader,
    request: ShellRequest,
    { headers, signal }: EngineCall,
    clock: StreamCall["clock"],
  ): void {
    const cancel = cancelMessage(reader, request);
    if (cancel === undefined || !isCallersChoice(signal.reason)) return;
    const tooLate = new AbortController();
    const cancelTimer = clock.after(cancelTimeoutMs, () => tooLate.abort());
    const call = { headers, signal: tooLate.signal, timeoutMs: cancelTimeoutMs };
    const sent = this.#engine
      .handleStream(cancel, call)
      .then(discard)
      .catch(() => {})
      .finally(() => {
        cancelTimer();
        this.#cancelling.delete(sent);
      });
    this.#cancelling.add(sent);
  }
}

/** Frees the connection of an answer that says nothing. */
const discard = async (answer: unknown): Promise<void> => {
  if (!isMessageStream(answer)) return;
  for await (const _ of answer) return;
};

/** How long a cancellation may take, which a client that is closed waits for. */
const cancelTimeoutMs = 2_000;
