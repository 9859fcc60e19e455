import type { HarnessEndpoint } from "@harnesskit/ahp-client";
import type { HttpCredentials } from "@harnesskit/transport-http";
import { createHttpExchange, createWebSocketTransport } from "@harnesskit/transport-http/node";
import { createChildTransport } from "@harnesskit/transport-stdio";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { HarnessError } from "@harnesskit/wire";
import { CliError, usageError } from "../cli-error.ts";
import { toSocketFailure } from "../endpoint.ts";
import { fromHere } from "../io.ts";
import { splitWords } from "../split-words.ts";
import { type AccessOptions, readAccess } from "./token.ts";

/**
 * How long a harness that is a child may take to end. Less than a server of `harness run` has for its own end: were that
 * killed first, a child that does not react would be left behind.
 */
const childTimeouts = { closeTimeoutMs: 1000, killTimeoutMs: 500 } as const;

/** A way to a harness, and what gives it up. */
export interface OpenEndpoint {
  readonly endpoint: HarnessEndpoint;
  close(): void;
}

const forms = "--ahp takes unix:PATH, http(s)://HOST:PORT/ahp, ws(s)://HOST:PORT/ahp or stdio:COMMAND";

const openByScheme = (
  to: string,
  credentials: HttpCredentials | undefined,
  inQuery: boolean,
): OpenEndpoint | undefined => {
  const [, scheme = "", rest = ""] = /^([a-z]+):(.+)/is.exec(to) ?? [];
  const byTransport = (transport: HarnessEndpoint["transport"] & object): OpenEndpoint => ({
    endpoint: { transport },
    close: () => {},
  });
  switch (scheme.toLowerCase()) {
    case "unix":
      return byTransport(createUnixTransport({ path: fromHere(rest), framing: "newline" }));
    case "stdio": {
      const [command, ...args] = splitWords(rest, "--ahp");
      if (command === undefined) return undefined;
      return byTransport(createChildTransport({ command, args, ...childTimeouts }));
    }
    case "ws":
    case "wss":
      return byTransport(
        createWebSocketTransport({ url: to, credentials, credentialsIn: inQuery ? "query" : "header" }),
      );
    case "http":
    case "https": {
      const exchange = createHttpExchange({ url: to, credentials });
      return { endpoint: { exchange }, close: () => exchange.close() };
    }
    default:
      return undefined;
  }
};

/** The way to the harness of `--ahp`; nothing is opened yet. Rejects with a usage error for anything else. */
export const openAhpEndpoint = async (endpoint: string, access: AccessOptions): Promise<OpenEndpoint> => {
  const credentials = await readAccess(access);
  const { inQuery = false } = access;
  if (inQuery && !/^wss?:/i.test(endpoint))
    throw usageError(
      "--ahp-credentials-in-query is for a WebSocket",
      "Others take it in a header: leave it out",
    );
  if (inQuery && credentials === undefined)
    throw usageError("--ahp-credentials-in-query: there is no credential", "Name it: --ahp-token-file FILE");
  try {
    const found = openByScheme(endpoint, credentials, inQuery);
    if (found) return found;
  } catch (error) {
    if (CliError.isInstance(error) || !HarnessError.isInstance(error)) throw error;
    if (error.code === "path_too_long") throw toSocketFailure(error, "--ahp");
    throw usageError(`--ahp: ${error.message}`, forms);
  }
  throw usageError(`--ahp: ${endpoint} is not an endpoint`, forms);
};
