import { BlockList, isIP } from "node:net";
import { hostname, networkInterfaces } from "node:os";
import type { AhpServer } from "@harnesskit/ahp-server";
import type { HttpServer } from "@harnesskit/transport-http/node";
import { HarnessError } from "@harnesskit/wire";
import { unavailableError, usageError } from "../cli-error.ts";
import { socketPathOf, toSocketFailure } from "../endpoint.ts";
import { readServerToken } from "./token.ts";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** True for an address that only this machine reaches. */
const isLoopbackAddress = (address: string): boolean => {
  const family = isIP(address);
  return family !== 0 && loopback.check(address, family === 4 ? "ipv4" : "ipv6");
};

const inUrl = (address: string): string => (address.includes(":") ? `[${address}]` : address);

/**
 * What other machines may call a server that listens on an address: the address, or all of this machine's where it listens
 * on all of them, and this machine's name. A page that leads a browser here by a name of its own is refused.
 */
const namesOfHost = (address: string): readonly string[] => {
  const isAll = address === "0.0.0.0" || address === "::";
  const own = Object.values(networkInterfaces()).flatMap((found) => found ?? []);
  const addresses = isAll ? own.map((each) => each.address).filter((each) => !each.includes("%")) : [address];
  return [...new Set([...addresses.map(inUrl), "localhost", hostname().toLowerCase()])];
};

/** Where a harness is served. */
export interface Places {
  readonly stdio?: true;
  readonly unix?: readonly string[];
  readonly http?: readonly number[];
  readonly ws?: readonly number[];
  /** The address of HTTP and WebSocket. @default "127.0.0.1" */
  readonly host?: string;
  readonly tokenFile?: string;
}

const defaultHost = "127.0.0.1";

/** Throws a usage error for places that are missing, invalid or in conflict. */
export const checkPlaces = ({
  stdio,
  unix = [],
  http = [],
  ws = [],
  host = defaultHost,
  tokenFile,
}: Places): void => {
  const ports = [...http, ...ws];
  if (!stdio && unix.length === 0 && ports.length === 0) {
    throw usageError("Say where to serve", "For example: --stdio, --unix PATH, --http 0 or --ws 0");
  }
  if (unix.includes("")) throw usageError("--unix: the path is empty");
  for (const path of unix) socketPathOf(`unix:${path}`, "--unix");
  const wanted = ports.filter((port) => port !== 0);
  const twice = wanted.find((port, index) => wanted.indexOf(port) < index);
  if (twice !== undefined) {
    throw usageError(`The port ${twice} is given twice`, "Each of --http and --ws needs a port of its own");
  }
  if (isIP(host) === 0 || host.includes("%")) {
    throw usageError(`--host: ${host} is not an address`, "For example: 127.0.0.1, ::1 or 0.0.0.0");
  }
  if (host !== defaultHost && ports.length === 0) {
    throw usageError("--host belongs to --http or --ws", "Say where to listen: --http 0");
  }
  if (!isLoopbackAddress(host) && tokenFile === undefined) {
    throw usageError(
      `--host ${host}: other machines can reach it, so that it needs --token-file`,
      "Name a file of your own; the token is made there if the file is missing",
    );
  }
  if (tokenFile !== undefined && ports.length === 0) {
    throw usageError("--token-file belongs to --http or --ws", "A socket is guarded by the mode of its file");
  }
};

/** Whether the harness ends with its standard input. */
export const isStdioAlone = ({ stdio, unix = [], http = [], ws = [] }: Places): boolean =>
  stdio === true && unix.length + http.length + ws.length === 0;

/** What is open of a harness. */
export interface OpenPlaces {
  readonly endpoints: readonly string[];
  readonly tokenFile: string | undefined;
  readonly remoteHost: string | undefined;
  close(): Promise<void>;
}

const path = "/ahp";

const socketAdvice = {
  form: "--unix PATH",
  whenInUse: "Use the harness that runs there: harness run --ahp unix:PATH",
};

/** Why a server does not listen, as an error that says what to do. */
export const toHttpFailure = (thrown: unknown, option: string): unknown => {
  if (!HarnessError.isInstance(thrown)) return thrown;
  const { code, message } = thrown;
  if (code === "insecure_token_file") {
    return usageError(`--token-file: ${message}`, "Name a file in a directory of your own");
  }
  if (code !== "address_in_use" && code !== "transport_failed") return thrown;
  const why = code === "address_in_use" ? "another program has this port: " : "";
  return unavailableError("unavailable", `${option}: ${why}${message}`, {
    hint: `Choose another port, or a free one: ${option} 0`,
    cause: thrown,
  });
};

/**
 * Serves the harness in each place, or in none: when one cannot be opened, the others are closed. Rejects with a usage
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
  const where = {
    host,
    onError,
    allowRemote: isRemote || undefined,
    allowedHosts: isRemote ? namesOfHost(host) : undefined,
  };

  // Only what is used is loaded: a parent process waits for a harness on standard input and output.
  try {
    for (const socket of unix) {
      const { createUnixListener } = await import("@harnesskit/transport-uds");
      const listener = createUnixListener({ path: socket, framing: "newline", onError });
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
