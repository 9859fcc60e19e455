import { createAhpClient, type HarnessEndpoint } from "@harnesskit/ahp-client";
import {
  type ControlHandlers,
  createThreadGates,
  followControl,
  type ThreadGates,
  threadGateCapabilities,
} from "@harnesskit/ahp-client/thread-gates";
import { type Clock, systemClock } from "@harnesskit/wire";
import { workspaceAgentId } from "@harnesskit/workspace-agent/declarations";
import { describeFailure } from "../cli-error.ts";
import { createLocalPolicy } from "./local-policy.ts";
import type { PolicyChoice } from "./policy-choice.ts";

/** What a thread server needs to work under a policy, and what ends it. */
export interface Supervision {
  readonly seams: Pick<ThreadGates, "gate" | "promptGate" | "observer">;
  /** Takes what a human tells the agent at the hub, until it is closed. Called at most once. */
  control(handlers: ControlHandlers): void;
  /** Ends the sessions, sends what waits, and closes the harness that was opened for it. Idempotent. */
  close(): Promise<void>;
}

export interface SupervisionOptions {
  readonly endpoint: HarnessEndpoint;
  readonly version: string;
  /** The policy's name until a decision names it. @default the harness's name */
  readonly policyName?: string | undefined;
  readonly note: (line: string) => void;
  /** How long a decision may take; the first one includes the harness's start. @default 10000 */
  readonly timeoutMs?: number | undefined;
  /** How long after its loss actions wait for a harness that was there. @default 2000 */
  readonly awayMs?: number;
  /** Whether a human answers there: decisions wait, and are asked again after a loss. @default false */
  readonly waits?: boolean;
  readonly clock?: Clock;
}

const flushTimeoutMs = 500;
const maxHandshakeMs = 10_000;
/** How long one question to a hub is held before it is asked again. */
const hubWaitMs = 600_000;
/** How long a hub may be away, for example restarted. */
const hubAwayMs = 60_000;
const hubAttempts = 20;

const refusing = "until it answers nothing is allowed";

/** Connects to the harness at once, and lets nothing happen that it has not allowed. */
export const createSupervision = (options: SupervisionOptions): Supervision => {
  const { endpoint, version, policyName, note, clock = systemClock } = options;
  const { waits = false, timeoutMs = waits ? hubWaitMs : 10_000 } = options;
  const { awayMs: waitMs = waits ? hubAwayMs : 2000 } = options;
  let wasReady = false;
  let hasFailed = false;
  let isClosing = false;
  let closing: Promise<void> | undefined;
  const client = createAhpClient({
    ...endpoint,
    framework: "harness-serve",
    version,
    agentId: "harness",
    capabilities: threadGateCapabilities,
    ...{ clock, requestTimeoutMs: timeoutMs },
    // Notifications over HTTP go one at a time: one that hangs keeps others no longer than it must.
    deadlines: { handshake: Math.min(timeoutMs, maxHandshakeMs), notification: Math.min(timeoutMs, 10_000) },
    // The hub gives an answer once, whoever asks again.
    resend: waits ? { calls: ["pre_action", "pre_prompt"], maxAttempts: hubAttempts } : undefined,
    reconnect: { initialDelayMs: 100, maxDelayMs: 5_000, maxAttempts: Number.POSITIVE_INFINITY, waitMs },
    onError: (error, { kind }) => {
      if (kind !== "connection" || wasReady || hasFailed || isClosing) return;
      hasFailed = true;
      note(`${describeFailure("the policy harness cannot be reached", error)}; ${refusing}`);
    },
  });
  client.onState((state) => {
    if (state === "ready" && wasReady) note("the policy harness answers again");
    if (state === "reconnecting") note(`the policy harness is away, and is tried again; ${refusing}`);
    wasReady ||= state === "ready";
  });
  const gates = createThreadGates({
    client,
    policyName: () => policyName ?? client.harness?.harness_info.name,
    toolAgent: workspaceAgentId,
    waitMs: waits ? timeoutMs : undefined,
    onError: (error) => note(describeFailure("a report could not be sent", error)),
    clock,
  });
  client.connect({ retry: true, timeoutMs: Math.min(timeoutMs, maxHandshakeMs) }).catch(() => {});
  const controlled = new AbortController();
  const close = async () => {
    controlled.abort();
    if (client.state === "ready") await client.flush({ timeoutMs: flushTimeoutMs });
    await client.close();
  };
  return {
    seams: gates,
    control: (handlers) => void followControl(client, handlers, { signal: controlled.signal, clock }),
    close() {
      isClosing = true;
      gates.end();
      closing ??= close();
      return closing;
    },
  };
};

export interface OpenSupervisionOptions {
  readonly choice: Exclude<PolicyChoice, { kind: "none" }>;
  readonly workspace: string;
  readonly version: string;
  readonly timeoutMs: number | undefined;
  readonly note: (line: string) => void;
}

/** What the shipped policy calls itself. */
const shippedPolicyName = "coding-agent";

/** The supervision that was chosen; the shipped policy is read while the rest is loaded. Rejects with a usage error. */
export const openSupervision = async (options: OpenSupervisionOptions): Promise<Supervision> => {
  const { choice, version, timeoutMs, note } = options;
  const common = { version, note, timeoutMs: timeoutMs || undefined };
  const opened =
    choice.kind === "endpoint"
      ? await openNamed(choice)
      : ((choice.kind === "hub" ? await openHub(choice.state, note) : undefined) ??
        (await openFile(choice.kind === "file" ? choice.file : undefined, options)));
  const { endpoint, close, policyName, waits = false } = opened;
  const supervision = createSupervision({ ...common, endpoint, policyName, waits });
  let closing: Promise<void> | undefined;
  return {
    ...supervision,
    close() {
      closing ??= supervision.close().finally(close);
      return closing;
    },
  };
};

interface OpenedHarness {
  readonly endpoint: HarnessEndpoint;
  readonly policyName?: string;
  readonly waits?: boolean;
  close(): void | Promise<void>;
}

/** The hub that was named, else the user's, if it runs. */
const openHub = async (
  state: string | undefined,
  note: (line: string) => void,
): Promise<OpenedHarness | undefined> => {
  const { chosenHub } = await import("../hub/find-hub.ts");
  const place = await chosenHub(state);
  if (place === undefined) return undefined;
  const [{ createUnixTransport }, { hubPolicyName }] = await Promise.all([
    import("@harnesskit/transport-uds"),
    import("../hub/hub-client.ts"),
  ]);
  note(`the hub at ${place.socket} judges; approvals: its page, or harness inbox`);
  const transport = createUnixTransport({ path: place.socket, framing: "newline" });
  return { endpoint: { transport }, waits: true, policyName: await hubPolicyName(place), close: () => {} };
};

const openFile = async (
  file: string | undefined,
  { workspace, version, note }: OpenSupervisionOptions,
): Promise<OpenedHarness> => {
  const policy =
    file === undefined
      ? undefined
      : await (await import("../ahp/policy-file.ts")).openPolicy(file, workspace);
  const onError = (error: unknown) => note(describeFailure("the policy", error));
  const { exchange, close } = createLocalPolicy({ workspace, policy, version, note, onError });
  return { endpoint: { exchange }, close, policyName: policy?.name ?? shippedPolicyName };
};

/** Loaded only if needed: it imports every transport. */
const openNamed = async ({
  endpoint,
  ...access
}: Extract<PolicyChoice, { kind: "endpoint" }>): Promise<OpenedHarness> =>
  (await import("../ahp/endpoint.ts")).openAhpEndpoint(endpoint, access);
