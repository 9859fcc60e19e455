import { createDeferred } from "@harnesskit/wire";
import type { StreamPayload } from "./call-stream.ts";
import type { Outgoing } from "./outbox.ts";
import type { CallHost, ResultPayload, ToolCall } from "./tool-call.ts";

const nothing = Promise.resolve();

/** Takes a call's stream and result within this process, without a core. */
export class LocalHost implements CallHost {
  readonly #onStream: ((payload: StreamPayload) => void) | undefined;
  readonly #result = createDeferred<ResultPayload>();
  readonly isFree = true;
  readonly sureOutputBytes = Number.POSITIVE_INFINITY;

  constructor(onStream: ((payload: StreamPayload) => void) | undefined) {
    this.#onStream = onStream;
  }

  /** The call's result; never rejects. */
  get ended(): Promise<ResultPayload> {
    return this.#result.promise;
  }

  push(message: Outgoing): void {
    message.take();
  }

  room(): Promise<void> {
    return nothing;
  }

  maxChunkBytes(): number {
    return Number.POSITIVE_INFINITY;
  }

  maxOutputBytes(): number {
    return Number.POSITIVE_INFINITY;
  }

  toStreamMessage(_call: ToolCall, payload: StreamPayload): object {
    this.#onStream?.(payload);
    return payload;
  }

  result(_call: ToolCall, payload: ResultPayload): void {
    this.#result.resolve(payload);
  }
}
