import { join } from "node:path";
import { type ApprovalQuestion, type ApprovalStore, createMemoryApprovalStore } from "@harnesskit/approvals";
import { createHub, type HubOptions } from "@harnesskit/hub";
import { type ServedHub, type ServeHubOptions, serveHub } from "@harnesskit/hub/node";
import { hubPlace } from "@harnesskit/hub/place";
import { createPolicyHarness, parsePolicy, parsePolicyLike } from "@harnesskit/policy";
import { createMemoryTimelineStore, type TimelineStore } from "@harnesskit/timeline";
import { freePort, temporaryDirectory } from "../../../../test-kit/test-kit.ts";
import { type Agent, connectAgent } from "./agent.ts";
import { policyText } from "./policy-text.ts";

export interface OpenHub extends AsyncDisposable {
  readonly url: string;
  /** The devices of the hub, and where they reach it. */
  readonly devices: ServedHub["devices"];
  readonly publicUrl: string;
  /** A link to the page, valid once. */
  link(): string;
  /** A link that answers what waits longest. */
  answerLink(): Promise<string>;
  readonly approvals: ApprovalStore;
  readonly timeline: TimelineStore;
  /** What the hub reported behind its callers' backs. */
  readonly errors: readonly unknown[];
  /** What was refused, and which devices were paired. */
  readonly entries: readonly AuditEntry[];
  agent(name: string, session?: string): Promise<Agent>;
  /** Puts a question without an agent that waits. */
  ask(question: Pick<ApprovalQuestion, "subject"> & Partial<ApprovalQuestion>): Promise<void>;
}

type AuditEntry = Parameters<NonNullable<ServeHubOptions["audit"]>>[0];

export interface OpenHubOptions {
  /** Whether it was started with a policy file. @default false */
  readonly savesPolicy?: boolean | undefined;
  readonly formerPolicy?: HubOptions["formerPolicy"];
}

const vapidKey = "BEl62iUYgUivxIkv69yViEuiBIa-Ib9-SkvMeAtA3LFgDzkrxZJjSgSnfckjBJuBkr3qBUYIHBQFLXYp5Nksh8U";

/** A hub as a user's, in this process, with stores in memory and the page from a directory. */
export const openHub = async (
  pageDirectory: string,
  { savesPolicy = false, formerPolicy }: OpenHubOptions = {},
): Promise<OpenHub> => {
  const directory = await temporaryDirectory();
  const place = hubPlace({ state: join(directory.path, "hub") });
  const errors: unknown[] = [];
  const entries: AuditEntry[] = [];
  const onError = (error: unknown) => errors.push(error);
  const approvals = createMemoryApprovalStore();
  const timeline = createMemoryTimelineStore();
  const policy = createPolicyHarness({ policy: parsePolicy(policyText) });
  const riskOf = () => ({ level: "high" as const, reasons: ["it may change anything"] });
  const limits = { returnWithinMs: 100 };
  const savePolicy = async ({ text }: { readonly text: string }) =>
    policy.replace(parsePolicyLike(policy.policy, text));
  const hub = createHub({
    ...{ version: "1.0.0", policy, approvals, timeline, riskOf, limits, onError },
    savePolicy: savesPolicy ? savePolicy : undefined,
    formerPolicy,
    costOf: ({ model, inputTokens = 0 }) => (model === "known" ? inputTokens / 1000 : undefined),
  });
  await hub.start();
  // A browser takes this name of the machine for another origin, and for as safe as TLS.
  const port = await freePort();
  const publicUrl = `http://localhost:${port}`;
  const audit = { record: (entry: AuditEntry) => entries.push(entry) };
  const served = await serveHub({
    ...{ hub, place, port, publicUrl, pageDirectory, onError },
    ...{ user: "ada", pushKey: vapidKey, audit: audit.record },
  });
  const agents: Agent[] = [];
  return {
    ...{ url: served.url, publicUrl, devices: served.devices, approvals, timeline, errors, entries },
    link: () => served.openLink(),
    async answerLink() {
      const [record] = (await approvals.page({ status: "pending" })).records;
      if (record === undefined) throw new Error("nothing waits");
      return served.answerLink(record, { for: "phone", forMs: 60_000 });
    },
    async agent(name, session = "s1") {
      const agent = await connectAgent(place.socket, name, session);
      agents.push(agent);
      return agent;
    },
    async ask(question) {
      await approvals.ask({
        origin: { agent: "codex", session: "s1" },
        rule: { id: "commands", reason: "it runs a command" },
        risk: { level: "low", reasons: [] },
        ...question,
      });
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(agents.map((agent) => agent.close()));
      await served.close();
      await hub.close();
      await approvals.close();
      await timeline.close();
      await directory[Symbol.asyncDispose]();
    },
  };
};
