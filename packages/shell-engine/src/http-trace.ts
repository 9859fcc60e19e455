import { contextField } from "./shell-context.ts";

/** The headers that go with OpenHarness over HTTP: for the `contextHeaders` of a server. */
export const shellHeaders: readonly string[] = [
  "x-correlation-id",
  "x-request-id",
  "traceparent",
  "user-agent",
];

/** What the headers of a request say about where it belongs. */
export interface HttpTrace {
  readonly correlationId: string | undefined;
  readonly requestId: string | undefined;
  readonly traceparent: string | undefined;
}

const nothing: HttpTrace = { correlationId: undefined, requestId: undefined, traceparent: undefined };

/** What is safe in a log and as a header. */
const idPattern = /^[\x21-\x7e]{1,512}$/;
const traceparentPattern =
  /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;

const matching = (value: unknown, pattern: RegExp): string | undefined =>
  typeof value === "string" && value.length <= 512 && pattern.test(value) ? value : undefined;

/** Reads `headers` of a transport's context. A header that is not well-formed is ignored. */
export const traceOf = (context: unknown): HttpTrace => {
  const headers = contextField(context, "headers");
  if (typeof headers !== "object" || headers === null) return nothing;
  const of = (name: string): unknown =>
    Object.hasOwn(headers, name) ? (headers as Record<string, unknown>)[name] : undefined;
  return {
    correlationId: matching(of("x-correlation-id"), idPattern),
    requestId: matching(of("x-request-id"), idPattern),
    traceparent: matching(of("traceparent"), traceparentPattern),
  };
};

const echoed = ["x-correlation-id", "x-request-id"] as const;

/**
 * `X-Correlation-ID` and `X-Request-ID` of a transport's context, for the answer, so that a shell's network log and its proxies
 * tell answers apart without reading them. Undefined where neither came, or neither is well-formed.
 */
export const shellReplyHeaders = (context: unknown): Readonly<Record<string, string>> | undefined => {
  const { correlationId, requestId } = traceOf(context);
  if (correlationId === undefined) return requestId === undefined ? undefined : { "x-request-id": requestId };
  if (requestId === undefined) return { "x-correlation-id": correlationId };
  return { "x-correlation-id": correlationId, "x-request-id": requestId };
};

/**
 * Has a `fetch` handler send `X-Correlation-ID` and `X-Request-ID` back with everything that it answers: with refusals too, which
 * the engine does not see.
 */
export const withShellHeaders =
  <Info extends unknown[]>(handler: (request: Request, ...info: Info) => Promise<Response>) =>
  async (request: Request, ...info: Info): Promise<Response> => {
    const response = await handler(request, ...info);
    const headers = new Headers(response.headers);
    for (const name of echoed) {
      const value = matching(request.headers.get(name), idPattern);
      if (value !== undefined) headers.set(name, value);
    }
    return new Response(response.body, { status: response.status, headers });
  };
