import { createHttpExchange, type HttpExchange } from "@harnesskit/transport-http/node";
import { HarnessError } from "@harnesskit/wire";
import { readClientToken } from "../ahp/token.ts";
import { usageError } from "../cli-error.ts";
import { oneLine } from "../terminal/one-line.ts";

/** Where tokens that are in no file are looked for. */
const tokenVariable = "HARNESS_ENGINE_TOKEN";

/** A way to an engine, and what it is known by. */
export interface EngineAccess {
  /** The whole URL. */
  readonly url: string;
  readonly exchange: HttpExchange;
}

export interface EngineAccessOptions {
  readonly engine: string;
  readonly tokenFile: string | undefined;
  readonly timeoutMs: number;
}

const isLoopback = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);

/** The whole URL of an engine: one without a path is at `/openharness`. Throws a usage error for what is none. */
const engineUrlOf = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  if (url === undefined || !isHttp || url.username !== "" || url.password !== "" || url.hash !== "") {
    const hint = "For example: --engine http://127.0.0.1:8787/openharness";
    throw usageError(`--engine: ${oneLine(text, 200)} is no URL of an engine`, hint);
  }
  if (url.pathname === "/") url.pathname = "/openharness";
  return url;
};

/** Opens the way to an engine; nothing is sent yet. Throws a usage error for a URL or a token that cannot be used. */
export const openEngine = async ({
  engine,
  tokenFile,
  timeoutMs,
}: EngineAccessOptions): Promise<EngineAccess> => {
  const url = engineUrlOf(engine);
  const token = await readClientToken(tokenFile, { variable: tokenVariable });
  if (token !== undefined && url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw usageError("--engine: a token would be sent to another machine in the clear", "Use https");
  }
  try {
    const credentials = token === undefined ? {} : { credentials: { bearer: token } };
    return { url: url.href, exchange: createHttpExchange({ url: url.href, timeoutMs, ...credentials }) };
  } catch (error) {
    if (!HarnessError.isInstance(error)) throw error;
    throw usageError(`--engine: ${oneLine(error.message, 500)}`);
  }
};
