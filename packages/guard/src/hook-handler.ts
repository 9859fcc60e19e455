import { findHost } from "@harnesskit/agent-hooks";
import type { Guard } from "./guard.ts";
import { maxHookInputBytes } from "./hook/hook-frames.ts";
import { checkHookHandlerOptions } from "./option-names.ts";

export interface HookHandlerOptions {
  /** How long the host waits, in milliseconds: the `timeout` of the hook in its settings. @default the host's own default */
  readonly timeoutMs?: number | undefined;
}

/** A web-standard handler: one of `fallback` of `createHttpServer`, or of `handlers` of `serveHub`. */
export type HookHandler = (request: Request) => Promise<Response>;

const refusalResponse = (status: number, reason: string): Response =>
  new Response(`${reason}\n`, { status, headers: { "content-type": "text/plain; charset=utf-8" } });

/** The body; undefined for one that is too large. */
const readBody = async ({ body }: Request): Promise<string | undefined> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength;
    if (bytes > maxHookInputBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
};

/**
 * Answers the HTTP hooks of a host, for a server that has checked token, host and origin. The body of the request is the hook's input, and that of
 * a reply with status 200 the host's answer, an empty object for no decision. What cannot be read gets 4xx and a reason: with
 * `"onFailure": "block"` in its settings the host refuses the call then. Throws `unknown_host` (`HookError`).
 */
export const createHookHandler = (
  guard: Guard,
  hostId: string,
  options: HookHandlerOptions = {},
): HookHandler => {
  checkHookHandlerOptions(options);
  const host = findHost(hostId);
  return async (request) => {
    if (request.method !== "POST") return refusalResponse(405, "a hook is a POST");
    const input = await readBody(request);
    if (input === undefined)
      return refusalResponse(413, `the hook's input exceeds ${maxHookInputBytes} bytes`);
    const [traceparent, tracestate] = [request.headers.get("traceparent"), request.headers.get("tracestate")];
    const trace = { traceparent, tracestate };
    const answer = await guard.answer({ host: host.id, input, trace, ...options }, request.signal);
    if (answer.exitCode !== 0)
      return refusalResponse(400, answer.reason ?? "the hook's input cannot be read");
    return new Response(answer.stdout, {
      headers: { "content-type": "application/json", "cache-control": "no-store" },
    });
  };
};
