import { createHubClient, type HubClient, HubError } from "@harnesskit/hub/client";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { refusedError } from "../cli-error.ts";
import { oneLine } from "../terminal/text.ts";
import { requireHub } from "./find-hub.ts";

/**
 * Asks the hub that runs, over its socket. Rejects with a `CliError` `hub_unavailable` where none runs, and with the hub's reason where it
 * refuses.
 */
export const askHub = async <T>(
  state: string | undefined,
  client: { readonly name: string; readonly version: string },
  ask: (client: HubClient) => Promise<T>,
): Promise<T> => {
  const place = await requireHub(state);
  const hub = createHubClient({
    transport: createUnixTransport({ path: place.apiSocket, framing: "newline" }),
    client,
  });
  try {
    await hub.connect();
    return await ask(hub);
  } catch (error) {
    if (!HubError.isInstance(error)) throw error;
    throw refusedError(error.code, oneLine(error.message, 500), { cause: error });
  } finally {
    await hub.close();
  }
};
