import { join } from "node:path";
import { type AhpClient, createAhpClient } from "@harnesskit/ahp-client";
import { createMemoryApprovalStore } from "@harnesskit/approvals";
import type { AuditEntryInput } from "@harnesskit/audit";
import { createPolicyHarness, type PolicyFunction, parsePolicy } from "@harnesskit/policy";
import { createMemoryTimelineStore } from "@harnesskit/timeline";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { temporaryDirectory } from "../../../../test-kit/test-kit.ts";
import { createHubClient, type HubClient } from "../../src/client/index.ts";
import { createHub, type HubOptions } from "../../src/index.ts";
import { serveHub } from "../../src/node/index.ts";
import { hubPlace } from "../../src/place.ts";

/** Reads pass, writes are asked about, commands that remove are blocked. */
const policyText = `
version: 1
name: small
defaults:
  gate: { decision: escalate, reason: no rule knows this tool }
  pre_prompt: allow
rules:
  - name: reads
    when: { tool: read }
    then: allow
  - name: removes
    when: { tool: bash, cel: 'args.command.startsWith("rm")' }
    then: { decision: block, reason: it removes files }
  - name: commands
    when: { tool: bash }
    then: { decision: escalate, reason: it runs a command }
`;

export interface OpenHubOptions extends Partial<Omit<HubOptions, "policy">> {
  /** The state's directory. @default a temporary one */
  readonly state?: string;
  readonly pageDirectory?: string;
  readonly policyText?: string;
  readonly functions?: readonly PolicyFunction[];
  readonly publicUrl?: string | undefined;
  readonly tls?: { readonly cert: string; readonly key: string };
}

/** A hub as a user's, in a directory of its own. */
export const openHub = async ({
  state,
  pageDirectory,
  policyText: text = policyText,
  functions = [],
  publicUrl,
  tls,
  ...options
}: OpenHubOptions = {}) => {
  const directory = state === undefined ? await temporaryDirectory() : undefined;
  const path = state ?? directory?.path ?? "";
  const place = hubPlace({ state: join(path, "hub") });
  const errors: unknown[] = [];
  const entries: AuditEntryInput[] = [];
  // Stores that are given outlive the hub, as files do.
  const ownsStores = options.approvals === undefined;
  const { approvals = createMemoryApprovalStore(), timeline = createMemoryTimelineStore() } = options;
  const policy = createPolicyHarness({ policy: parsePolicy(text, { functions }) });
  const hub = createHub({
    version: "1.0.0",
    policy,
    onError: (error) => errors.push(error),
    audit: { record: (entry) => entries.push(entry) },
    ...options,
    approvals,
    timeline,
  });
  await hub.start();
  const served = await serveHub({
    hub,
    place,
    user: "ada",
    audit: (entry) => entries.push(entry),
    onError: (error) => errors.push(error),
    ...(pageDirectory !== undefined && { pageDirectory }),
    publicUrl,
    tls,
    pushKey: "push-key",
    clock: options.clock,
  });
  const opened: { close(): Promise<void> }[] = [];
  return {
    ...{ hub, served, place, policy, approvals, timeline, errors, entries },
    /** An agent on the hub's socket. */
    async agent(agentId: string, given: { sessionId?: string; framework?: string } = {}): Promise<AhpClient> {
      const client = createAhpClient({
        transport: createUnixTransport({ path: place.socket, framing: "newline" }),
        framework: given.framework ?? "test",
        version: "1.0.0",
        agentId,
        sessionId: given.sessionId ?? "s1",
      });
      opened.push(client);
      await client.connect();
      return client;
    },
    /** A terminal on the hub's own socket. */
    async client(name = "terminal"): Promise<HubClient> {
      const client = createHubClient({
        transport: createUnixTransport({ path: place.apiSocket, framing: "newline" }),
        client: { name },
      });
      opened.push(client);
      await client.connect();
      return client;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(opened.map((each) => each.close()));
      await served.close();
      await hub.close();
      if (ownsStores) await Promise.all([approvals.close(), timeline.close()]);
      await directory?.[Symbol.asyncDispose]();
    },
  };
};

/** A call of a tool, as agents send it. */
export const call = (command: string, id?: string, tool = "bash") => ({
  action_type: "tool_call",
  tool_name: tool,
  arguments: { command },
  ...(id !== undefined && { tool_call_id: id }),
});
