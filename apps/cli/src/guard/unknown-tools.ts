import { HubError } from "@harnesskit/hub/client";
import { findHub } from "../hub/find-hub.ts";
import { withHubClient } from "../hub/hub-client.ts";
import { oneLine } from "../terminal/text.ts";

/** A line for each agent with tools that no table of the guard has, as the running hub has counted them; none without a hub. */
export const unknownToolLines = async (): Promise<ReadonlyMap<string, string>> => {
  const place = await findHub();
  if (place === undefined) return new Map();
  const who = { client: { name: "harness guard" }, reconnect: false } as const;
  try {
    const { agents } = await withHubClient(place, who, (client) => client.call("agents.list"));
    const known = agents.filter(({ unknownTools }) => unknownTools.length > 0);
    return new Map(
      known.map(({ agent, unknownTools }) => {
        const tools = unknownTools.map(({ tool, calls }) => `${oneLine(tool, 100)} (${calls})`).join(", ");
        return [
          agent,
          `tools that no table has, with their calls since the hub started: ${tools}. You are asked about each; a newer harness may know them`,
        ];
      }),
    );
  } catch (error) {
    if (HubError.isInstance(error)) return new Map();
    throw error;
  }
};
