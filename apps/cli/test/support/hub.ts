import { join } from "node:path";
import { type AhpClient, createAhpClient } from "@harnesskit/ahp-client";
import type { ApprovalRecord } from "@harnesskit/approvals";
import { createHubClient, type HubClient } from "@harnesskit/hub/client";
import { type HubPlace, hubPlace } from "@harnesskit/hub/place";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { onTestFinished } from "vitest";
import type { Start } from "./harness.ts";
import { eventually } from "./harness.ts";
import { startHarness } from "./in-process.ts";

type Place = Pick<HubPlace, "apiSocket" | "socket">;

/** A client of the API of a hub that runs. */
export const clientOf = async ({ apiSocket }: Place, name = "test"): Promise<HubClient> => {
  const transport = createUnixTransport({ path: apiSocket, framing: "newline" });
  const client = createHubClient({ transport, client: { name } });
  onTestFinished(() => client.close());
  await client.connect();
  return client;
};

/** An agent that asks a hub. */
export const agentOf = async ({ socket }: Place, agentId: string, sessionId = "s1"): Promise<AhpClient> => {
  const agent = createAhpClient({
    transport: createUnixTransport({ path: socket, framing: "newline" }),
    ...{ framework: "test", version: "1.0.0", agentId, sessionId },
  });
  onTestFinished(() => agent.close());
  await agent.connect();
  return agent;
};

/** A hub that runs, and a client of it. */
export const startHub = async (cwd: string, args: readonly string[] = [], start: Start = startHarness) => {
  const env = { XDG_STATE_HOME: join(cwd, "state"), BROWSER: "" };
  const program = start(["hub", "--quiet", ...args], { cwd, env });
  const [, url = ""] = await program.reports(/page: (http:\/\/127\.0\.0\.1:\d+)\/#ticket=/);
  const place = hubPlace({ env });
  const client = await clientOf(place, "page");
  return { env, program, url, place, client };
};

export const pendingOf = (client: HubClient, agent: string): Promise<ApprovalRecord> =>
  eventually(async () => {
    const { records } = await client.call("inbox.list", { status: "pending", agent });
    if (records[0] === undefined) throw new RangeError(`nothing of ${agent} is pending`);
    return records[0];
  });

export const answer = (
  client: HubClient,
  { id, digest }: ApprovalRecord,
  decision: "approve" | "reject" = "approve",
  note?: string,
) => client.call("inbox.answer", { id, digest, decision, ...(note !== undefined && { note }) });
