import {
  type Backoff,
  type BackoffOptions,
  BufferFullError,
  backoffDelayMs,
  type Clock,
  ConnectionClosedError,
  createMessageCodec,
  defaultWireLimits,
  type Exchange,
  FrameTooLargeError,
  HarnessError,
  RequestCancelledError,
  RequestTimeoutError,
  resolveBackoff,
  Slots,
  systemClock,
  wait,
} from "@harnesskit/wire";
import { assertCounts, assertTimes } from "./check-options.ts";
import { toClientUrl } from "./client-url.ts";
import { neverSent, toConnectionError } from "./connection-error.ts";
import { checkedHeaders, type HttpCredentials } from "./credentials.ts";
import { failureKindOf, HttpReplyError, HttpStatusError } from "./errors.ts";
import type { Poster, PostReply } from "./poster.ts";
import { isJsonType, toContentLength } from "./read-body.ts";

export interface HttpRetryOptions extends BackoffOptions {
  /** Attempts of one message. @default 3 */
  readonly maxAttempts?: number;
  /** The longest wait after the first attempt, in milliseconds. @default 200 */
  readonly initialDelayMs?: number;
  /** Whether a message may be handled twice: then broken connections, timeouts and 5xx are tried again too. @default false */
  readonly idempotent?: boolean;
}

export interface HttpExchangeOptions {
  /** `http://…` or `https://…`, without user name, password and fragment. */
  readonly url: string | URL;
  /** Sent along with each message. @default none */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as `X-API-Key` or `Authorization: Bearer`. @default none */
  readonly credentials?: HttpCredentials;
  /** How long one attempt may take, from connecting to the last byte. @default 10000 */
  readonly timeoutMs?: number;
  /** Bytes of one message, in either direction. @default 4194304 (4 MiB) */
  readonly maxMessageBytes?: number;
  /** How deep a reply may nest. @default 64 */
  readonly maxDepth?: number;
  /** Messages under way at one time; further ones are refused with `buffer_full`. @default 1024 */
  readonly maxInFlight?: number;
  /**
   * Tries again what the server cannot have handled: no connection came about, or it answered 429 or 503.
   * @default no second attempt
   */
  readonly retry?: HttpRetryOptions;
  /** @default the real time */
  readonly clock?: Clock;
}

/** What one call may set. */
export interface HttpCall {
  readonly signal?: AbortSignal;
  /** In the place of `signal`, for who calls often: registers what is called to give up, and returns what takes it back. */
  readonly onGiveUp?: (giveUp: (reason: unknown) => void) => () => void;
  /** @default that of the exchange */
  readonly timeoutMs?: number;
  /** Sent with this message, over the exchange's own; neither the transport's headers nor credentials. @default none */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The client's side of an exchange over HTTP. */
export interface HttpExchange extends Exchange<HttpCall | undefined> {
  /**
   * Posts the message. Resolves with the reply, or with undefined when the server has none. Other than a core's, it
   * rejects when no reply could be had; {@link failureKindOf} tells what that says about the server.
   */
  handle(message: unknown, call?: HttpCall): Promise<unknown>;
  /** Gives up what is under way (`connection_closed`) and the connections. Idempotent. */
  close(): void;
}

type Headers = Readonly<Record<string, string>>;

class ExchangeClient implements HttpExchange {
  readonly #endpoint: string;
  readonly #poster: Poster;
  readonly #headers: Headers;
  readonly #credentials: HttpCredentials | undefined;
  readonly #timeoutMs: number;
  readonly #maxMessageBytes: number;
  readonly #maxInFlight: number;
  readonly #retry: (Backoff & { readonly idempotent: boolean }) | undefined;
  readonly #clock: Clock;
  readonly #codec;
  readonly #closed = new AbortController();
  /** What gives up each post that is under way. */
  readonly #underWay = new Slots<(reason: HarnessError) => void>();
  #inFlight = 0;

  constructor(options: HttpExchangeOptions, makePoster: (url: URL) => Poster) {
    const { url, endpoint } = toClientUrl(options.url, ["http:", "https:"]);
    this.#endpoint = endpoint;
    this.#timeoutMs = options.timeoutMs ?? 10_000;
    this.#maxMessageBytes = options.maxMessageBytes ?? defaultWireLimits.maxFrameBytes;
    this.#maxInFlight = options.maxInFlight ?? 1024;
    const maxDepth = options.maxDepth ?? defaultWireLimits.maxDepth;
    assertTimes({ timeoutMs: this.#timeoutMs });
    assertCounts({ maxMessageBytes: this.#maxMessageBytes, maxInFlight: this.#maxInFlight, maxDepth });
    this.#credentials = options.credentials;
    this.#headers = {
      ...checkedHeaders(options.headers ?? {}, options.credentials),
      accept: "application/json",
      "content-type": "application/json",
    };
    this.#retry = options.retry && {
      ...resolveBackoff(options.retry, { maxAttempts: 3, initialDelayMs: 200 }),
      idempotent: options.retry.idempotent ?? false,
    };
    this.#clock = options.clock ?? systemClock;
    this.#codec = createMessageCodec({ maxFrameBytes: this.#maxMessageBytes, maxDepth });
    this.#poster = makePoster(url);
  }

  async handle(message: unknown, call: HttpCall = {}): Promise<unknown> {
    if (this.#closed.signal.aborted) throw new ConnectionClosedError("the exchange is closed");
    assertTimes({ timeoutMs: call.timeoutMs ?? this.#timeoutMs });
    if (this.#inFlight >= this.#maxInFlight) throw new BufferFullError("maxInFlight", this.#maxInFlight);
    const headers = call.headers
      ? { ...this.#headers, ...checkedHeaders(call.headers, this.#credentials) }
      : this.#headers;
    const body = this.#codec.encode(message);
    this.#inFlight++;
    try {
      return await this.#attempts(headers, body, call);
    } finally {
      this.#inFlight--;
    }
  }

  close(): void {
    this.#closed.abort();
    for (const giveUp of this.#underWay) giveUp(new ConnectionClosedError("the exchange is closed"));
    this.#poster.close();
  }

  async #attempts(headers: Headers, body: string, call: HttpCall): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#post(headers, body, call);
      } catch (error) {
        if (!this.#retry || attempt >= this.#retry.maxAttempts || !this.#mayTryAgain(error)) throw error;
        const asked = HarnessError.isInstance(error) && "retryAfterMs" in error ? error.retryAfterMs : 0;
        const delayMs = Math.max(backoffDelayMs(attempt, this.#retry), Number(asked ?? 0));
        if (delayMs > this.#retry.maxDelayMs) throw error;
        const signals = AbortSignal.any([this.#closed.signal, ...(call.signal ? [call.signal] : [])]);
        await wait(delayMs, this.#clock, signals);
        if (this.#closed.signal.aborted) throw new ConnectionClosedError("the exchange is closed");
      }
    }
  }

  #mayTryAgain(error: unknown): boolean {
    if (!HarnessError.isInstance(error)) return false;
    if (error instanceof HttpStatusError && (error.status === 503 || error.status === 429)) return true;
    if (neverSent(error)) return error.code !== "tls_failed";
    const kind = failureKindOf(error);
    const repeatable = kind === "timed_out" || (kind === "unavailable" && error.code !== "connection_closed");
    return this.#retry?.idempotent === true && repeatable;
  }

  async #post(headers: Headers, body: string, call: HttpCall): Promise<unknown> {
    const { onGiveUp, timeoutMs = this.#timeoutMs } = call;
    const signal = onGiveUp ? undefined : call.signal;
    const name = `POST ${this.#endpoint}`;
    if (signal?.aborted) throw new RequestCancelledError(name, { cause: signal.reason });
    let why: HarnessError | undefined;
    let stop = () => {};
    const giveUp = (reason: HarnessError) => {
      why ??= reason;
      stop();
    };
    const onStart = (stopPosting: () => void) => {
      stop = stopPosting;
    };
    const cancel = (reason: unknown) => giveUp(new RequestCancelledError(name, { cause: reason }));
    const onCancel = () => cancel(signal?.reason);
    const takeBack = this.#clock.after(timeoutMs, () => giveUp(new RequestTimeoutError(name, timeoutMs)));
    signal?.addEventListener("abort", onCancel, { once: true });
    const unlisten = onGiveUp?.(cancel);
    const slot = this.#underWay.add(giveUp);
    try {
      return await this.#read(await this.#poster.post({ headers, body, onStart }));
    } catch (cause) {
      if (why) throw why;
      throw HarnessError.isInstance(cause) ? cause : toConnectionError(this.#endpoint, cause);
    } finally {
      takeBack();
      signal?.removeEventListener("abort", onCancel);
      unlisten?.();
      this.#underWay.remove(slot);
    }
  }

  async #read(reply: PostReply): Promise<unknown> {
    const { status } = reply;
    if (status !== 200) {
      const seconds = toContentLength(reply.header("retry-after"));
      const document = await this.#readRefusal(reply);
      if (status === 204 || status === 202) return undefined;
      const retryAfterMs = seconds === undefined ? undefined : seconds * 1000;
      throw new HttpStatusError(this.#endpoint, status, retryAfterMs, document);
    }
    if (!isJsonType(reply.header("content-type"))) {
      reply.discard();
      throw new HttpReplyError(
        "wrong_content_type",
        `${this.#endpoint} answered with something else than JSON`,
      );
    }
    if ((toContentLength(reply.header("content-length")) ?? 0) > this.#maxMessageBytes) {
      reply.discard();
      throw new FrameTooLargeError(this.#maxMessageBytes);
    }
    return this.#codec.decode(await reply.read(this.#maxMessageBytes));
  }

  /** The JSON message that came with an error status; undefined where there is none, or it is too large. Never rejects. */
  async #readRefusal(reply: PostReply): Promise<unknown> {
    const length = toContentLength(reply.header("content-length")) ?? 0;
    const isJson = reply.status >= 400 && isJsonType(reply.header("content-type"));
    if (!isJson || length > this.#maxMessageBytes) {
      reply.discard();
      return undefined;
    }
    try {
      return this.#codec.decode(await reply.read(this.#maxMessageBytes));
    } catch {
      return undefined;
    }
  }
}

/** Makes the client of a way to post. Throws `invalid_argument`. */
export const createExchangeClient = (
  options: HttpExchangeOptions,
  makePoster: (url: URL) => Poster,
): HttpExchange => new ExchangeClient(options, makePoster);
