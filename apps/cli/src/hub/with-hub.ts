import { createHubClient, type HubClient, HubError } from "@harnesskit/hub/client";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { ExitCode, refusedError } from "../cli-error.ts";
import { describeEnd } from "../inbox/answer-one.ts";
import { Interrupts } from "../interruption.ts";
import { io } from "../io.ts";
import { oneLine } from "../terminal/text.ts";
import { requireHub } from "./find-hub.ts";

export interface WithHubOptions {
  /** The hub's directory. @default one of the user's state directory */
  readonly state?: string | undefined;
  /** How the hub records what this client does. */
  readonly name: string;
  readonly version: string;
}

/**
 * Runs `use` with a client of the hub that runs here; the signal aborts with Ctrl-C. Rejects with a `CliError` where no hub runs, and for
 * what the hub refuses, with the hub's code.
 */
export const withHub = async (
  { state, name, version }: WithHubOptions,
  use: (client: HubClient, signal: AbortSignal) => Promise<ExitCode>,
): Promise<ExitCode> => {
  const place = await requireHub(state);
  const interrupts = new Interrupts(() => io().exit(ExitCode.interrupted));
  interrupts.listen();
  const client = createHubClient({
    transport: createUnixTransport({ path: place.apiSocket, framing: "newline" }),
    client: { name, version },
  });
  try {
    await client.connect();
    return await use(client, interrupts.signal);
  } catch (error) {
    if (!HubError.isInstance(error)) throw error;
    throw refusedError(error.code, oneLine(describeEnd(error), 1000), { cause: error });
  } finally {
    interrupts.dispose();
    await client.close();
  }
};
