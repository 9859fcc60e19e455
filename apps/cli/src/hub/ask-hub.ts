import { type HubClient, HubError } from "@harnesskit/hub/client";
import { CliError, ExitCode } from "../cli-error.ts";
import { describeEnd } from "../inbox/answer-one.ts";
import { Interrupts } from "../interruption.ts";
import { io } from "../io.ts";
import { requireHub } from "./find-hub.ts";
import { withHubClient } from "./hub-client.ts";

export interface AskHubOptions {
  /** The hub's directory. @default one of the user's state directory */
  readonly state?: string | undefined;
  /** How the hub records what this client does. */
  readonly name: string;
  readonly version: string;
}

/** Asks the hub that runs. Rejects with a `CliError` `hub_unavailable` where none runs, and with the hub's reason where it refuses. */
export const askHub = async <T>(
  { state, ...client }: AskHubOptions,
  ask: (client: HubClient) => Promise<T>,
): Promise<T> => {
  const place = await requireHub(state);
  try {
    return await withHubClient(place, { client }, ask);
  } catch (error) {
    if (!HubError.isInstance(error)) throw error;
    const exitCode = error.code.endsWith("_not_found") ? ExitCode.failed : ExitCode.refused;
    throw new CliError(error.code, describeEnd(error), { cause: error, exitCode });
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
