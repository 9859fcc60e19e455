import {
  type ApprovalStore,
  type Grant,
  grantProblem,
  grantTerms,
  presentGrant,
} from "@harnesskit/approvals";
import type { AuditEntryInput } from "@harnesskit/audit";
import { JsonRpcErrorCode } from "@harnesskit/protocol/envelope";
import {
  type Device,
  HUB_API_VERSION,
  type HubMethodName,
  type HubMethodParams,
  type HubMethodResult,
  hubMethods,
  type RowUsage,
} from "@harnesskit/protocol/hub";
import type { TimelineStore } from "@harnesskit/timeline";
import {
  type Channel,
  type Clock,
  displayText,
  HarnessError,
  invalidParams,
  ProtocolError,
} from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { createPeer, type Peer, type RpcMethod } from "@harnesskit/wire/rpc";
import { inTraceMeta } from "@harnesskit/wire/trace";
import type { AgentControl } from "../agents/agent-control.ts";
import type { Presence } from "../agents/presence.ts";
import type { ApprovalDesk } from "../desk/approval-desk.ts";
import type { HubLimits } from "../limits.ts";
import type { PolicyDesk } from "../policy-desk.ts";
import { readActivity } from "../timeline/activity.ts";
import type { Recorder } from "../timeline/recorder.ts";
import type { AnswerBudget } from "./answer-budget.ts";
import { notFound, rateLimited, reasonOf, toApiError } from "./api-errors.ts";
import { checkAnswer, checkCall, userOnly } from "./device-rules.ts";
import { byOf, type Client, deskOf, type Handlers, type HubUser } from "./handlers.ts";
import { policyMethods } from "./policy-methods.ts";
import { readSession, toDetail } from "./timeline-detail.ts";
import { Watches } from "./watches.ts";

export interface HubApiOptions {
  readonly approvals: ApprovalStore;
  readonly timeline: TimelineStore;
  readonly recorder: Recorder;
  readonly desk: ApprovalDesk;
  readonly presence: Presence;
  readonly control: AgentControl;
  readonly policy: PolicyDesk;
  readonly budget: AnswerBudget;
  readonly limits: HubLimits;
  readonly clock: Clock;
  readonly about: HubMethodResult<"hub.hello">["hub"];
  readonly costOf: (usage: RowUsage) => number | undefined;
  /** The default and longest duration of a grant. */
  readonly grantMs: number;
  readonly audit: (entry: AuditEntryInput) => void;
  readonly onError: (error: unknown) => void;
}

/** The hub's own API, for any number of channels. */
export class HubApi {
  readonly #options: HubApiOptions;
  readonly #peers = new Set<Peer>();
  readonly #handlers: Handlers;

  constructor(options: HubApiOptions) {
    this.#options = options;
    this.#handlers = this.#createHandlers();
  }

  get clients(): number {
    return this.#peers.size;
  }

  /** Serves a client, and starts its channel. One too many is closed at once. */
  connect(channel: Channel, user: HubUser): void {
    const { approvals, timeline, recorder, clock, limits, onError } = this.#options;
    if (this.#peers.size >= limits.maxClients) {
      void channel.close(new HarnessError("buffer_full", "too many clients of the hub's API"));
      return;
    }
    const watches = new Watches({
      approvals,
      timeline,
      recorder,
      clock,
      maxWatches: limits.maxWatchesPerClient,
      notify: (name, params) => client.notify(name, params),
      onError,
    });
    const client: Client = {
      ...{ ...user, watches, name: undefined },
      notify: (name, params) => peer.notify(name, params),
    };
    const peer: Peer = createPeer(
      channel,
      {
        methods: (name) => this.#method(name, client),
        close: () => {
          watches.close();
          this.#peers.delete(peer);
        },
        onError: (error) => onError(error),
      },
      { clock, maxConcurrentCalls: 16 },
    );
    this.#peers.add(peer);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#peers].map((peer) => peer.close()));
  }

  #method(name: string, client: Client): RpcMethod<unknown, unknown> | undefined {
    if (!Object.hasOwn(hubMethods, name)) return undefined;
    const method = name as HubMethodName;
    return {
      read: (params) => {
        if (client.name === undefined && method !== "hub.hello") {
          throw new ProtocolError(JsonRpcErrorCode.InvalidRequest, "Call hub.hello first", {
            data: { reason: "hello_required" },
          });
        }
        this.#admit(method, client);
        const parsed = hubMethods[method].params.safeParse(params);
        if (parsed.success) return { asked: parsed.data, params };
        const [issue] = parsed.error.issues;
        const place = issue?.path.map(String).join(".") ?? "";
        const text = `params${place === "" ? "" : `.${place}`}: ${issue?.message ?? "not valid"}`;
        throw invalidParams(displayText(text, { maxLength: 500 }), { reason: "invalid_params" });
      },
      handle: async (read, call) => {
        const { asked, params } = read as { readonly asked: never; readonly params: unknown };
        const handler = this.#handlers[method] as Handlers["inbox.get"];
        try {
          return await inTraceMeta(params, () => handler(asked, client, call));
        } catch (error) {
          throw toApiError(error);
        }
      },
    };
  }

  #admit(method: HubMethodName, { device }: Client): void {
    if (device === undefined) return;
    try {
      checkCall(method, device);
    } catch (error) {
      const details = { device: device.id, name: device.name, method, reason: reasonOf(error) };
      this.#options.audit({ action: "hub.device.call", outcome: "refused", details });
      throw error;
    }
  }

  #createHandlers(): Handlers {
    const { approvals, timeline, presence, control, clock, about, grantMs, recorder, desk } = this.#options;
    const recordOf = async (id: string) => {
      const record = await approvals.get(id);
      if (record === undefined) throw notFound("approval", id);
      return record;
    };
    return {
      "hub.hello": ({ client: { name } }, client) => {
        const { device, pushKey } = client;
        client.name = displayText(name, { maxLength: 100 });
        return { version: HUB_API_VERSION, hub: about, by: byOf(client), grantMs, device, pushKey };
      },
      "inbox.list": async (params = {}) => {
        const { records, nextSeq } = await approvals.page(defined(params));
        return { records: [...records], nextSeq };
      },
      "inbox.get": async ({ id }) => ({ record: await recordOf(id) }),
      "inbox.watch": ({ afterSeq = desk.lastSeq } = {}, { watches }) => ({
        watchId: watches.inbox(afterSeq),
        afterSeq,
      }),
      "inbox.answer": (params, client) => this.answer(params, byOf(client), client.device),
      "inbox.previewGrant": async ({ id, always }) => {
        const record = await recordOf(id);
        const terms = grantTerms(record, always, clock.now(), grantMs);
        const problem = grantProblem(record, terms);
        if (problem !== undefined) throw problem;
        return { terms, lines: [...presentGrant(terms, record.subject)] };
      },
      "grants.list": async () => {
        const list = async (grant: Grant) => {
          const given = "digest" in grant.match ? await approvals.get(grant.approvalId) : undefined;
          return { grant, lines: [...presentGrant(grant, given?.subject)] };
        };
        return { grants: await Promise.all((await approvals.grants()).map(list)) };
      },
      "grants.revoke": async ({ id }, client) => {
        if (!(await approvals.grants()).some((grant) => grant.id === id)) throw notFound("grant", id);
        const grant = await approvals.revokeGrant(id, byOf(client));
        const details = { grant: id, by: byOf(client) };
        this.#options.audit({ action: "hub.revoke", outcome: "ok", details });
        return { grant };
      },
      "devices.list": (_params, client) => ({ devices: [...deskOf(client).list()] }),
      "devices.pair": (params, client) => deskOf(client).pair(params),
      "devices.revoke": async ({ id }, client) => {
        if (client.device !== undefined && client.device.id !== id) throw userOnly();
        const device = await deskOf(client).revoke(id, byOf(client));
        if (device === undefined) throw notFound("device", id);
        return { device };
      },
      "devices.subscribe": async ({ subscription }, client) => {
        const device = client.device && (await deskOf(client).subscribe(client.device.id, subscription));
        if (device === undefined) throw notFound("device", client.device?.id ?? "of this connection");
        return { device };
      },
      "timeline.page": async (params = {}) => {
        await recorder.flush();
        const page = await timeline.page(params);
        return { ...page, rows: [...page.rows] };
      },
      "timeline.watch": ({ filter, afterSeq = recorder.lastSeq } = {}, { watches }) => ({
        watchId: watches.timeline(afterSeq, filter),
        afterSeq,
      }),
      "timeline.get": async ({ id }) => {
        await recorder.flush();
        const stored = await timeline.get(id);
        if (stored === undefined) throw notFound("row", id);
        const approvalId = stored.row.approval?.id;
        return toDetail(stored, approvalId === undefined ? undefined : await approvals.get(approvalId));
      },
      "timeline.read": async (params) => {
        await recorder.flush();
        return readSession(timeline, params);
      },
      "watch.cancel": ({ watchId }, { watches }) => {
        if (!watches.cancel(watchId)) throw notFound("watch", watchId);
        return { ok: true };
      },
      "agents.list": async () => ({ agents: await presence.list((agent) => control.sessionsOf(agent)) }),
      "agents.control": async (params, client) => {
        const { agent, session, action } = params;
        const details = { agent, session, action, by: byOf(client) };
        try {
          await control.tell(params, (key) => presence.isHere(key));
          this.#options.audit({ action: "hub.control", outcome: "ok", details });
        } catch (error) {
          const reason = reasonOf(error);
          this.#options.audit({ action: "hub.control", outcome: "refused", details: { ...details, reason } });
          throw error;
        }
        return { ok: true };
      },
      "sessions.list": async (params = {}) => {
        await recorder.flush();
        return { sessions: [...(await timeline.sessions(params))] };
      },
      "activity.list": async (params, _client, { signal }) => {
        await recorder.flush();
        const { costOf, limits } = this.#options;
        return readActivity(params, { timeline, clock, costOf, maxRows: limits.maxActivityRows }, signal);
      },
      ...policyMethods(this.#options),
    };
  }

  /** The first answer counts. Refused ones are recorded, too. */
  async answer(
    { id, digest, decision, note, always }: HubMethodParams<"inbox.answer">,
    by: string,
    device?: Device,
  ): Promise<HubMethodResult<"inbox.answer">> {
    const { approvals, audit, budget } = this.#options;
    const details = { approval: id, decision, by, always: always !== undefined };
    const waitMs = budget.take();
    if (waitMs > 0) {
      audit({ action: "hub.answer", outcome: "limited", details });
      throw rateLimited(waitMs);
    }
    try {
      if (device !== undefined) {
        const asked = await approvals.get(id);
        if (asked !== undefined) checkAnswer(asked, always, device);
      }
      const record = await approvals.apply(id, { type: "answer", decision, by, digest, note, always });
      audit({ action: "hub.answer", outcome: "ok", details });
      return { record };
    } catch (error) {
      const reason = reasonOf(error);
      audit({ action: "hub.answer", outcome: "refused", details: { ...details, reason } });
      if (reason === "not_found") throw notFound("approval", id);
      throw error;
    }
  }
}
