import { InvalidArgumentError } from "@harnesskit/wire";
import type { RequestView } from "./request-view.ts";

/** What a server knows about who sends a message. */
export interface HttpContext<Principal = unknown> {
  readonly transport: "http" | "websocket";
  /** The path that was asked for. */
  readonly path: string;
  readonly remoteAddress: string | undefined;
  /** Who it is, as `authenticate` said. */
  readonly principal: Principal;
  /** The headers that `contextHeaders` names, as far as they came. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The context of one exchange. */
export interface HttpExchangeContext<Principal = unknown> extends HttpContext<Principal> {
  readonly transport: "http";
  /** Aborts when the client goes away before it has its answer, and when the server stops waiting. */
  readonly signal: AbortSignal;
}

/** The headers that a context shows when nothing is said. */
export const defaultContextHeaders: readonly string[] = ["user-agent"];

const secret = new Set(["authorization", "cookie", "proxy-authorization", "x-api-key"]);

/** The names in lower case. Throws `invalid_argument` for headers that hold credentials. */
export const checkedContextHeaders = (names: readonly string[]): readonly string[] =>
  names.map((name) => {
    const lower = name.toLowerCase();
    if (!secret.has(lower)) return lower;
    throw new InvalidArgumentError(
      `the header ${lower} holds a credential and belongs to authenticate alone`,
    );
  });

/** Picks the named headers. */
export const pickHeaders = (
  request: RequestView,
  names: readonly string[],
): Readonly<Record<string, string>> => {
  const picked: Record<string, string> = {};
  for (const name of names) {
    const value = request.header(name);
    if (value !== undefined) picked[name] = value;
  }
  return picked;
};
