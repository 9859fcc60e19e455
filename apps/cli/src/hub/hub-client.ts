import { createHubClient, type HubClient, type HubClientOptions, HubError } from "@harnesskit/hub/client";
import type { HubPlace } from "@harnesskit/hub/place";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { RequestTimeoutError } from "@harnesskit/wire";
import { CliError, ExitCode, unavailableError } from "../cli-error.ts";
import { describeEnd } from "../inbox/answer-one.ts";
import { Interrupts } from "../interruption.ts";
import { io } from "../io.ts";
import { note } from "../terminal/terminal.ts";
import { requireHub } from "./find-hub.ts";

type Place = Pick<HubPlace, "apiSocket">;
type Who = Pick<HubClientOptions, "client" | "reconnect" | "onState">;

/** A client of the hub at a place; it is not connected yet. */
export const hubClient = ({ apiSocket }: Place, who: Who): HubClient =>
  createHubClient({ transport: createUnixTransport({ path: apiSocket, framing: "newline" }), ...who });

/** Connects to the hub at a place for as long as `use` works. Rejects as both do. */
export const withHubClient = async <T>(
  place: Place,
  { timeoutMs, ...who }: Who & { readonly timeoutMs?: number },
  use: (client: HubClient) => Promise<T>,
): Promise<T> => {
  const client = hubClient(place, who);
  try {
    await client.connect({ timeoutMs });
    return await use(client);
  } finally {
    await client.close();
  }
};

const timeoutMs = 2000;

/** The name of the policy that a hub goes by; "of the hub" where it does not say in time. */
export const hubPolicyName = (place: Pick<HubPlace, "apiSocket">): Promise<string> =>
  withHubClient(place, { client: { name: "harness" }, timeoutMs }, async (client) => {
    const { policy } = await client.call("policy.get", undefined, { timeoutMs });
    return policy.name;
  }).catch(() => "of the hub");

interface AskHubOptions {
  /** The hub's directory. @default one of the user's state directory */
  readonly state?: string | undefined;
  /** How the hub records what this client does. */
  readonly name: string;
  readonly version: string;
  /** Whether it tries without end to reach a hub that is away, and says so. */
  readonly stays?: boolean | undefined;
}

/** How long a hub may take to answer its first call. */
const helloMs = 5000;

const listCommands: Readonly<Record<string, string>> = {
  device_not_found: "harness hub devices",
  grant_not_found: "harness inbox --grants",
};

/** Tries without end to reach a hub that is away. */
export const endlessReconnect = { maxAttempts: Number.POSITIVE_INFINITY, maxDelayMs: 2000 };

/** How a command that goes on keeps to its hub: it tries without end, and says when the hub is away and when it is back. */
export const stayWithHub = (name: string): Pick<Who, "reconnect" | "onState"> => {
  let isAway = false;
  return {
    reconnect: endlessReconnect,
    onState(state) {
      if (state !== (isAway ? "ready" : "reconnecting")) return;
      note(
        `${name}: ${isAway ? "connected to the hub again" : "the hub is away; trying again, Ctrl-C ends"}`,
      );
      isAway = !isAway;
    },
  };
};

/** Asks the hub that runs. Rejects with a `CliError` `hub_unavailable` where none runs or answers, and with the hub's reason where it refuses. */
export const askHub = async <T>(
  { state, stays, ...client }: AskHubOptions,
  ask: (client: HubClient) => Promise<T>,
): Promise<T> => {
  const place = await requireHub(state);
  try {
    const who = { client, timeoutMs: helloMs, ...(stays && stayWithHub(client.name)) };
    return await withHubClient(place, who, ask);
  } catch (error) {
    if (RequestTimeoutError.isInstance(error)) {
      const message = `the hub at ${place.socket} takes connections and does not answer`;
      const to = "Continue it if it is stopped (fg, or kill -CONT), or end it and start another";
      throw unavailableError("hub_unavailable", message, {
        cause: error,
        hint: { to, run: "harness hub --open" },
      });
    }
    if (!HubError.isInstance(error)) throw error;
    const isMissing = error.code.endsWith("_not_found");
    throw new CliError(error.code, describeEnd(error), {
      cause: error,
      exitCode: isMissing ? ExitCode.failed : ExitCode.refused,
      hint: isMissing
        ? { to: "See what there is", run: listCommands[error.code] ?? "harness inbox" }
        : undefined,
    });
  }
};

/** The same for a command that goes on until Ctrl-C, which aborts the signal. */
export const followHub = async <T>(
  options: AskHubOptions,
  follow: (client: HubClient, signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const interrupts = new Interrupts(() => io().exit(ExitCode.interrupted));
  interrupts.listen();
  try {
    return await askHub(options, (client) => follow(client, interrupts.signal));
  } finally {
    interrupts.dispose();
  }
};
