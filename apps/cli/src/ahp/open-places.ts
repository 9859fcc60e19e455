import type { AhpServer } from "@harnesskit/ahp-server";
import type { HttpServer } from "@harnesskit/transport-http/node";
import { HarnessError } from "@harnesskit/wire";
import { CliError, usageError } from "../cli-error.ts";
import { toSocketFailure } from "../endpoint.ts";
import { ExitCode } from "../exit-code.ts";
import { oneLine } from "../terminal/one-line.ts";
import { defaultHost, type Places } from "./places.ts";
import { isLoopbackAddress, namesOfHost } from "./remote-host.ts";
import { readServerToken } from "./token.ts";

/** What is open of a harness. */
export interface OpenPlaces {
  /** Where agents reach it: `unix:PATH`, `http://…`, `ws://…`. */
  readonly endpoints: readonly string[];
  /** The file with the token; undefined without HTTP and WebSocket. */
  readonly tokenFile: string | undefined;
  /** What of it other machines can reach; undefined where none of it. */
  readonly remoteHost: string | undefined;
  /** Closes all of it; removes the sockets, and the token that was made. */
  close(): Promise<void>;
}

const path = "/ahp";

const socketAdvice = {
  form: "--unix PATH",
  whenInUse: "Ask the harness that runs there: harness ahp send --to unix:PATH",
};

/** Why a server does not listen, as an error that says what to do. */
export const toHttpFailure = (thrown: unknown, option: string): unknown => {
  if (!HarnessError.isInstance(thrown)) return thrown;
  const { code, message } = thrown;
  if (code === "insecure_token_file") {
    return usageError(`--token-file: ${oneLine(message, 1000)}`, "Name a file in a directory of your own");
  }
  if (code !== "address_in_use" && code !== "transport_failed") return thrown;
  return new CliError("unavailable", `${option}: ${oneLine(message, 1000)}`, {
    exitCode: ExitCode.unavailable,
    hint: `Choose another port, or a free one: ${option} 0`,
    cause: thrown,
  });
};

/**
 * Serves the harness in each place, or in none: when one cannot be had, the others are given back. Rejects with a usage
 * error, or one that says `unavailable`.
 */
export const openPlaces = async (
  harness: AhpServer,
  places: Places,
  onError: (error: unknown) => void,
): Promise<OpenPlaces> => {
  const { unix = [], http = [], ws = [], host = defaultHost, tokenFile } = places;
  const endpoints: string[] = [];
  const open: { close(): Promise<void> }[] = [];
  const close = async () => {
    await Promise.all(open.map((place) => place.close()));
  };
  let token = tokenFile === undefined ? undefined : await readServerToken(tokenFile);
  let shownFile = token === undefined ? undefined : tokenFile;

  const listen = async (server: HttpServer, option: string): Promise<void> => {
    await server.listen().catch((error: unknown) => {
      throw toHttpFailure(error, option);
    });
    open.push(server);
    // The first one makes the token, and all ask for the same.
    if (server.tokenFile === undefined) return;
    shownFile = server.tokenFile;
    token = await readServerToken(server.tokenFile);
  };
  const credentials = () =>
    token === undefined ? (tokenFile === undefined ? {} : { tokenFile }) : { token };
  const isRemote = !isLoopbackAddress(host);
  const where = { host, onError, ...(isRemote && { allowRemote: true, allowedHosts: namesOfHost(host) }) };

  // What is not asked for is not loaded: a harness on standard input and output is somebody's child, and waited for.
  try {
    for (const socket of unix) {
      const { createUnixListener } = await import("@harnesskit/transport-uds");
      const listener = createUnixListener({ path: socket, framing: "newline" });
      await listener.listen((channel) => harness.connect(channel));
      open.push(listener);
      endpoints.push(listener.endpoint ?? `unix:${socket}`);
    }
  } catch (error) {
    await close();
    throw toSocketFailure(error, "--unix", socketAdvice);
  }
  try {
    for (const port of http) {
      const { createHttpServer } = await import("@harnesskit/transport-http/node");
      const server = createHttpServer({ ...where, port, routes: { [path]: harness }, ...credentials() });
      await listen(server, "--http");
      endpoints.push(`${server.url}${path}`);
    }
    for (const port of ws) {
      const { createHttpServer } = await import("@harnesskit/transport-http/node");
      const server = createHttpServer({ ...where, port, ...credentials() });
      await server.webSocketListener({ path }).listen((channel) => harness.connect(channel));
      await listen(server, "--ws");
      endpoints.push(`${server.webSocketUrl}${path}`);
    }
  } catch (error) {
    await close();
    throw error;
  }
  const isOpen = isRemote && http.length + ws.length > 0;
  return { endpoints, tokenFile: shownFile, remoteHost: isOpen ? host : undefined, close };
};
