import { createHubClient, HubError } from "@harnesskit/hub/client";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { findHub } from "../hub/find-hub.ts";
import { oneLine } from "../terminal/text.ts";

/** Tools of each agent that no table of the guard has, as the running hub has counted them; empty without a hub. */
const readUnknownTools = async (): Promise<ReadonlyMap<string, string>> => {
  const place = await findHub();
  if (place === undefined) return new Map();
  const transport = createUnixTransport({ path: place.apiSocket, framing: "newline" });
  const client = createHubClient({ transport, client: { name: "harness guard" }, reconnect: false });
  try {
    await client.connect();
    const { agents } = await client.call("agents.list");
    const lines = agents
      .filter(({ unknownTools }) => unknownTools.length > 0)
      .map(({ agent, unknownTools }): [string, string] => [
        agent,
        unknownTools.map(({ tool, calls }) => `${oneLine(tool, 100)} (${calls})`).join(", "),
      ]);
    return new Map(lines);
  } catch (error) {
    if (HubError.isInstance(error)) return new Map();
    throw error;
  } finally {
    await client.close();
  }
};

/** A line for each agent with such tools. */
export const unknownToolLines = async (): Promise<ReadonlyMap<string, string>> =>
  new Map(
    [...(await readUnknownTools())].map(([agent, tools]) => [
      agent,
      `tools that no table has, with their calls since the hub started: ${tools}. You are asked about each; a newer harness may know them`,
    ]),
  );
