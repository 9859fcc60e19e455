import { HarnessError } from "@harnesskit/wire";
import { rewriteEvents, rewriteWhole } from "./rewrite-messages.ts";

export interface BoundedFetchOptions {
  /** Bytes of one message: of one event of a stream, or of a whole other body. */
  readonly maxMessageBytes: number;
  /** The body of a response broke off. */
  readonly onBroken: (method: string, error: unknown) => void;
  /**
   * What the reader of a body gets in place of a message; undefined is one over the limit, which breaks nothing then.
   * @default messages are passed on as they are, and one over the limit breaks the body
   */
  readonly rewrite?: ((message?: string) => string) | undefined;
  /** The answer of a request that has ended without one; empty where none is waited for. */
  readonly missing?: (() => string) | undefined;
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** Counts the bytes since the last empty line, at which an event ends. */
class EventMeter {
  bytes = 0;
  #isLineEmpty = true;

  add(chunk: Uint8Array): void {
    for (const byte of chunk) {
      this.bytes++;
      if (byte === carriageReturn) continue;
      if (byte !== lineFeed) this.#isLineEmpty = false;
      else if (this.#isLineEmpty) this.bytes = 0;
      else this.#isLineEmpty = true;
    }
  }
}

/** `fetch` with an end to what one message may take, which reports a body that breaks off. */
export const createBoundedFetch =
  ({
    maxMessageBytes,
    onBroken,
    rewrite,
    missing = () => "",
  }: BoundedFetchOptions): ((url: string | URL, init?: RequestInit) => Promise<Response>) =>
  async (url, init) => {
    const response = await fetch(url, init);
    const noAnswer = response.status === 202 ? missing() : "";
    if (noAnswer !== "") {
      await response.body?.cancel();
      return new Response(noAnswer, { headers: { "content-type": "application/json" } });
    }
    if (!response.body) return response;
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const isRewritten = rewrite !== undefined && response.ok;
    const meter = new EventMeter();
    const reader = response.body.getReader();
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (isCancelled) return;
          if (done) {
            controller.close();
            return;
          }
          if (isStream && !isRewritten) meter.add(value);
          else if (!isRewritten) meter.bytes += value.length;
          if (meter.bytes > maxMessageBytes) {
            await reader.cancel();
            throw new HarnessError("frame_too_large", `a message exceeds ${maxMessageBytes} bytes`);
          }
          controller.enqueue(value);
        } catch (error) {
          if (isCancelled || init?.signal?.aborted) return;
          onBroken(init?.method ?? "GET", error);
          controller.error(error);
        }
      },
      cancel(reason) {
        isCancelled = true;
        return reader.cancel(reason);
      },
    });
    const { status, statusText, headers } = response;
    const rewriter = isStream ? rewriteEvents : rewriteWhole;
    const read = isRewritten ? body.pipeThrough(rewriter({ maxMessageBytes, rewrite, missing })) : body;
    const bounded = new Response(read, {
      status,
      statusText,
      headers,
    });
    Object.defineProperty(bounded, "url", { value: response.url });
    return bounded;
  };
