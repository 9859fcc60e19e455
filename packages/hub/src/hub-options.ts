import type { AhpServer, StateStore } from "@harnesskit/ahp-server";
import type { ApprovalRecord, ApprovalRisk, ApprovalStore } from "@harnesskit/approvals";
import type { AuditSink } from "@harnesskit/audit";
import type { Explanation, PolicyHarness } from "@harnesskit/policy";
import type { HubMethodParams, RowUsage } from "@harnesskit/protocol/hub";
import type { TimelineStore } from "@harnesskit/timeline";
import type { Channel, Clock, CreateId } from "@harnesskit/wire";
import type { AgentLink } from "./agents/presence.ts";
import type { HubUser } from "./api/handlers.ts";
import type { AnyEvent } from "./desk/read-event.ts";
import type { HubLimits } from "./limits.ts";

export interface HubOptions {
  /** The policy in force. Its `escalate` becomes an approval. */
  readonly policy: PolicyHarness;
  /** Where approvals are kept. The caller closes it after the hub. */
  readonly approvals: ApprovalStore;
  /** Where the timeline is kept. The caller closes it after the hub. */
  readonly timeline: TimelineStore;
  /** Names the hub for agents and clients. @default "harness-hub" */
  readonly name?: string | undefined;
  /** The hub's version, which agents and clients are given. */
  readonly version: string;
  /** Arguments of `harness` as a shell takes them, which the page shows: what starts this hub again, and what runs an agent under it. @default none */
  readonly commands?: { readonly start: string; readonly run: string } | undefined;
  /**
   * A policy's file that this hub had before and was started without, and the arguments of `harness` that start it with that one. The page
   * says so. @default none
   */
  readonly formerPolicy?: { readonly file: string; readonly start: string } | undefined;
  /**
   * Writes the policy's file for a user of the page, and puts it in force: `savePolicy` of `@harnesskit/policy/node`. Rejects with its
   * errors. @default the page cannot save the policy
   */
  readonly savePolicy?: ((change: HubMethodParams<"policy.save">) => Promise<void>) | undefined;
  /**
   * What the tokens that an agent reports cost, in US dollars; undefined where the model has no price. `costOf` of `@harnesskit/models`
   * knows list prices. @default every cost is unknown
   */
  readonly costOf?: ((usage: RowUsage) => number | undefined) | undefined;
  /** Where runs are kept. @default they live as long as the hub */
  readonly stateStore?: StateStore | undefined;
  /** What a human should know about the danger of an action. @default unknown */
  readonly riskOf?: ((event: AnyEvent, explanation: Explanation) => ApprovalRisk) | undefined;
  /** What is known of an agent's protection, in a line, such as what `harness guard doctor` has found. @default undefined, nothing */
  readonly protectionOf?: (agent: string) => string | undefined;
  /** More fields of events whose values the timeline does not keep, by name in any case. @default names of secrets only */
  readonly secretFields?: readonly string[] | undefined;
  /** The default and longest duration of grants, as the store of approvals has it. @default its default */
  readonly grantMs?: number | undefined;
  /** Records each event with its decision, without content; answers, refused ones too, and revoked grants. @default nowhere */
  readonly audit?: Pick<AuditSink, "record" | "isFull"> | undefined;
  /** Limits to override. @default each as {@link HubLimits} states */
  readonly limits?: Partial<HubLimits> | undefined;
  /** Receives errors that no agent and no client sees. What it throws is ignored. @default no report */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
  /** @default random */
  readonly createId?: CreateId | undefined;
}

/** What the hub knows about the sender of an event. */
export interface AgentContext {
  readonly link: AgentLink;
  readonly principal?: unknown;
  readonly signal?: AbortSignal;
}

/** A channel's or exchange's context, as transports give it. */
export interface TransportContext {
  readonly principal?: unknown;
  readonly signal?: AbortSignal;
}

/** One harness for all agents. */
export interface Hub extends AsyncDisposable {
  /** Starts the hub's own work, such as expiry. Rows that were running when an earlier hub died become `unknown`. */
  start(): Promise<void>;
  /** Serves an agent over a channel, and starts the channel. Throws `connection_closed` after `close`. */
  connectAgent(channel: Channel, transport: "unix" | "websocket"): void;
  /** Answers AHP over HTTP: a route of `createHttpServer`. */
  readonly exchange: Pick<AhpServer<AgentContext>, "malformed" | "unsendable"> & {
    handle(message: unknown, context: TransportContext): Promise<unknown>;
  };
  /** Serves a client of the hub's own API over a channel, and starts the channel. */
  connectClient(channel: Channel, user: HubUser): void;
  /** Resolves with the approval as it is now; undefined for an unknown id. */
  approval(id: string): Promise<ApprovalRecord | undefined>;
  /**
   * Answers an approval as `inbox.answer` of the API does, within the same budget and with the same entry of the audit. Rejects with an
   * `ApprovalError` if another answer came first or the question is over, and with a `ProtocolError` for an unknown id and for too
   * many answers.
   */
  answer(answer: HubMethodParams<"inbox.answer">, by: string): Promise<ApprovalRecord>;
  stats(): HubStats;
  /** Ends what waits, without an answer, and closes all connections. Questions stay. Idempotent. */
  close(): Promise<void>;
}

export interface HubStats extends ReturnType<AhpServer["stats"]> {
  /** Questions that are held for a human. */
  readonly held: number;
  /** Clients of the API. */
  readonly clients: number;
}
