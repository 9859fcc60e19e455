import { createHubClient, type HubClient, type HubClientOptions } from "@harnesskit/hub/client";
import type { HubPlace } from "@harnesskit/hub/place";
import { createUnixTransport } from "@harnesskit/transport-uds";

type Place = Pick<HubPlace, "apiSocket">;
type Who = Pick<HubClientOptions, "client" | "reconnect">;

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
