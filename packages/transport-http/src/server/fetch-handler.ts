import { handlerLimits } from "../limits.ts";
import { checkFetchHandlerOptions } from "../option-names.ts";
import { readStream } from "../read-body.ts";
import { type Admission, authenticateOf, type TokenPrincipal } from "./authenticate.ts";
import { ExchangeCore } from "./exchange-core.ts";
import type { ExchangeRoute, HandlerOptions } from "./handler-options.ts";
import type { Answer, AnswerStream, BodyLimits, ReadBody, RequestView } from "./request-view.ts";

export type FetchHandlerOptions<Principal = TokenPrincipal> = HandlerOptions &
  ExchangeRoute<Principal> &
  Admission<Principal> & {
    /** The path that takes messages. */
    readonly path: string;
    /** The hosts that requests may be made to: `localhost` for any port, `agent.example:8443` for one. */
    readonly allowedHosts: readonly string[];
  };

/** What the platform knows about a request beside what stands in it. */
export interface FetchInfo {
  readonly remoteAddress?: string;
}

/** Answers a web-standard request. Never rejects. Ignores what else a framework passes, such as the `params` of Next. */
export type FetchHandler = (request: Request, info?: FetchInfo | object) => Promise<Response>;

/** A web-standard request as the rules look at it. */
export class FetchRequestView implements RequestView {
  readonly #request: Request;
  readonly #url: URL;
  readonly remoteAddress: string | undefined;

  constructor(request: Request, info: FetchInfo | object = {}) {
    this.#request = request;
    this.#url = new URL(request.url);
    const { remoteAddress } = info as FetchInfo;
    this.remoteAddress = typeof remoteAddress === "string" ? remoteAddress : undefined;
  }

  get method(): string {
    return this.#request.method;
  }

  get path(): string {
    return this.#url.pathname;
  }

  get query(): string {
    return this.#url.search.slice(1);
  }

  /** Some platforms hand the host over in the URL alone. */
  get authority(): string {
    return this.header("host") ?? this.#url.host;
  }

  get isSecure(): boolean {
    return this.#url.protocol === "https:";
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  header(name: string): string | undefined {
    return this.#request.headers.get(name) ?? undefined;
  }

  async readBody({ maxBytes, timeoutMs, clock }: BodyLimits): Promise<ReadBody> {
    const { body, bodyUsed } = this.#request;
    if (bodyUsed || body?.locked) return { problem: "read_before" };
    if (!body) return { bytes: new Uint8Array(0) };
    const tooSlow = new AbortController();
    const cancelTimer = clock.after(timeoutMs, () => tooSlow.abort());
    try {
      const bytes = await readStream(body, maxBytes, tooSlow.signal);
      if (tooSlow.signal.aborted) return { problem: "too_slow" };
      return bytes ? { bytes } : { problem: "too_large" };
    } catch {
      return { problem: tooSlow.signal.aborted ? "too_slow" : "gone" };
    } finally {
      cancelTimer();
    }
  }
}

/** Read as it is asked for. Ends when its reader cancels it, or goes away. */
const toBody = (stream: AnswerStream, signal: AbortSignal): ReadableStream<Uint8Array> => {
  const bytes = new TextEncoder();
  const leave = () => void stream.return?.();
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await stream.next();
        if (done) controller.close();
        else controller.enqueue(bytes.encode(value));
      },
      cancel: leave,
    },
    { highWaterMark: 0 },
  );
};

export const toResponse = (
  { status, headers, body, stream }: Answer,
  request: FetchRequestView,
): Response => {
  if (stream) return new Response(toBody(stream, request.signal), { status, headers });
  return new Response(request.method === "HEAD" ? null : (body ?? null), { status, headers });
};

/**
 * Serves an exchange as a web-standard handler, for Hono, Next, Express, Deno, Bun or a worker. One POST of one JSON
 * message is answered 200 with a JSON reply or 204 without; everything else has its status in the README's table.
 * Throws `invalid_argument`, also where neither a token nor `authenticate` is given: pass `allowAnyone` where
 * something before the handler has looked at the credentials.
 */
export const createFetchHandler = <Principal = TokenPrincipal>(
  options: FetchHandlerOptions<Principal>,
): FetchHandler => {
  checkFetchHandlerOptions(options);
  const { path, handle, handleStream, malformed, unsendable, replyHeaders } = options;
  const core = new ExchangeCore<Principal>({
    ...options,
    allowHostOrigins: true,
    limits: handlerLimits.resolve(options.limits),
    authenticate: authenticateOf(options),
    routes: { [path]: { handle, handleStream, malformed, unsendable, replyHeaders } },
  });
  return async (request, info) => {
    const view = new FetchRequestView(request, info);
    return toResponse(await core.answer(view), view);
  };
};
