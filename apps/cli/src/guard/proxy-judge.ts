import { basename } from "node:path";
import { type AhpClient, createAhpClient, type HarnessEndpoint } from "@harnesskit/ahp-client";
import { type ActionJudge, createActionJudge } from "@harnesskit/guard/acp";
import { type ChildTransportOptions, createChildTransport } from "@harnesskit/transport-stdio";
import { createUnixTransport } from "@harnesskit/transport-uds";
import type { Channel } from "@harnesskit/wire";
import { openAhpEndpoint } from "../ahp/endpoint.ts";
import { ExitCode, toCliError, unavailableError, usageError } from "../cli-error.ts";
import { hubPlaceAt } from "../hub/find-hub.ts";
import { onStopSignals } from "../interruption.ts";
import { io } from "../io.ts";
import { withoutHarness } from "../supervision/policy-choice.ts";

/** The options that choose the harness of a proxy. */
export interface ProxyHarnessOptions {
  /** The directory of a hub's state. @default the user's hub */
  readonly hub?: string;
  readonly ahp?: string;
  readonly ahpTokenFile?: string;
  readonly ahpApiKeyFile?: string;
  /** How long a call waits for a decision, in seconds. */
  readonly wait: number;
}

const runners = new Set(["npx", "bunx", "uvx", "pnpx", "node", "python", "python3", "docker", "deno"]);

/** What the server is called where no name was given: the package or the program. */
const serverName = ([program = "", ...args]: readonly string[]): string => {
  const name = basename(program);
  const word = runners.has(name) ? (args.find((one) => !one.startsWith("-")) ?? name) : name;
  return basename(word.replace(/(?:\/dist)?(?:\/index)?\.[cm]?[jt]s$/, "")).replace(/(.)@[^@]*$/, "$1");
};

/** A name that is one part of `mcp__SERVER__TOOL`. */
const asPart = (name: string): string =>
  name
    .replace(/[^A-Za-z0-9.-]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 64) || "server";

/** The name that policies know a program by: what was given, else made of its command. Throws a usage error. */
export const readProgramName = (given: string | undefined, words: readonly string[]): string => {
  if (given === undefined) return asPart(serverName(words));
  if (/^[A-Za-z0-9.-]{1,64}$/.test(given)) return given;
  throw usageError(
    `--name: ${JSON.stringify(given)} is not a name`,
    "It takes 1 to 64 letters, digits, points and hyphens",
  );
};

/** What a proxy is to its harness, and where it says what the user should know. */
export interface ProxyIdentity {
  readonly framework: string;
  readonly version: string;
  readonly agentId: string;
  /** The events that it sends. */
  readonly capabilities: readonly string[];
  readonly note: (line: string) => void;
}

/** What a proxy works with. */
export interface ProxyParts {
  readonly judge: ActionJudge;
  readonly limits: { readonly holdMs: number };
  /** Called at SIGTERM and Ctrl-C, from when it is set. */
  onStop(stop: () => void): void;
}

/** How long a hub may be away before a call is refused. */
const awayMs = 10_000;
const handshakeMs = 10_000;
const flushMs = 1000;
const hubAttempts = 20;

interface ProxyHarness {
  readonly client: AhpClient;
  /** Sends what waits, and closes the way to the harness. */
  close(): Promise<void>;
}

/**
 * The way of a proxy to its harness. It is tried at once, and again and again: while it is away nothing is allowed. Rejects with a usage
 * error.
 */
const openProxyHarness = async (
  options: ProxyHarnessOptions,
  { framework, version, agentId, capabilities, note }: ProxyIdentity,
): Promise<ProxyHarness> => {
  const { hub, ahp } = options;
  if (options.wait < 1 || options.wait > 86_400) throw usageError("--wait takes 1 to 86400 seconds");
  if (ahp !== undefined && hub !== undefined)
    throw usageError("--hub cannot be used with --ahp", "Choose one of them");
  if (ahp === undefined && (options.ahpTokenFile ?? options.ahpApiKeyFile) !== undefined)
    throw withoutHarness();
  const place = hubPlaceAt(hub);
  const opened: { endpoint: HarnessEndpoint; close(): void } =
    ahp === undefined
      ? {
          endpoint: { transport: createUnixTransport({ path: place.socket, framing: "newline" }) },
          close: () => {},
        }
      : await openAhpEndpoint(ahp, { tokenFile: options.ahpTokenFile, apiKeyFile: options.ahpApiKeyFile });
  let isAway = false;
  const client = createAhpClient({
    ...opened.endpoint,
    framework,
    version,
    agentId,
    capabilities,
    deadlines: { handshake: handshakeMs },
    reconnect: {
      initialDelayMs: 100,
      maxDelayMs: 5000,
      maxAttempts: Number.POSITIVE_INFINITY,
      waitMs: awayMs,
    },
    // The hub gives an answer once, whoever asks again.
    resend: ahp === undefined ? { calls: ["pre_action", "pre_prompt"], maxAttempts: hubAttempts } : undefined,
    onError: (_, { kind }) => {
      if (kind !== "connection" || isAway) return;
      isAway = true;
      note(
        ahp === undefined
          ? `no hub runs at ${place.socket}: every call is refused; start it: harness hub`
          : "the harness cannot be reached: every call is refused",
      );
    },
  });
  client.onState((state) => {
    if (state === "ready") isAway = false;
  });
  client.connect({ retry: true }).catch(() => {});
  return {
    client,
    async close() {
      if (client.state === "ready") await client.flush({ timeoutMs: flushMs });
      await client.close();
      opened.close();
    },
  };
};

/** Starts the program behind a proxy, in this directory and with this environment. Rejects with a `CliError` `unavailable` where it cannot be started. */
export const startProgram = (
  command: string,
  args: readonly string[],
  framing: Pick<ChildTransportOptions, "maxFrameBytes" | "maxBufferedBytes" | "keepLines">,
): Promise<Channel> =>
  createChildTransport({
    ...{ command, args, ...framing },
    ...{ cwd: io().cwd(), inheritEnv: Object.keys(io().env) },
  })
    .connect()
    .catch((cause: unknown) => {
      throw unavailableError("unavailable", toCliError(cause).message, { cause });
    });

/**
 * Runs a proxy between its two sides until one of them ends. `run` resolves with what ended it otherwise, if something did. Returns the exit
 * code, and rejects with a usage error.
 */
export const runProxy = async (
  options: ProxyHarnessOptions,
  identity: ProxyIdentity,
  run: (parts: ProxyParts) => Promise<Error | undefined>,
): Promise<ExitCode> => {
  const harness = await openProxyHarness(options, identity);
  let forget = () => {};
  try {
    const failure = await run({
      judge: createActionJudge({ client: harness.client }),
      limits: { holdMs: options.wait * 1000 },
      onStop(stop) {
        forget = onStopSignals(stop);
      },
    });
    if (failure === undefined) return ExitCode.done;
    identity.note(failure.message);
    return ExitCode.failed;
  } finally {
    forget();
    await harness.close();
  }
};
