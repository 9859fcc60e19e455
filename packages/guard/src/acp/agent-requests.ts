import type { AcpAgentMethod, AcpCall, AcpToolCall } from "@harnesskit/agent-hooks/acp";
import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { BoundedMap } from "@harnesskit/wire";
import { exactLine } from "../proxy/exact-line.ts";
import { idKey, objectOf, type RpcMessage } from "../proxy/rpc-message.ts";
import {
  type ActionOutcome,
  type ActionRuling,
  boundedResult,
  errorOutcome,
  type ProxiedAction,
} from "../proxy/rulings.ts";
import { type AcpPeers, codes, pass, proxiedAction, sendError, sendResult } from "./acp-peers.ts";
import { effectKey, withArguments } from "./carried-out.ts";
import { withPreview } from "./edit-preview.ts";
import { EditorNotes } from "./editor-notes.ts";
import { OpenRequests } from "./open-requests.ts";
import {
  askEditor,
  cancelledPermission,
  grantOnce,
  grantProblem,
  isGranted,
  refusePermission,
} from "./permission.ts";
import type { AcpSessions } from "./sessions.ts";
import type { AcpTerminals } from "./terminals.ts";
import type { AcpToolReports } from "./tool-reports.ts";

/** A request of the agent that is judged, or that the editor has. */
interface OpenRequest {
  readonly id: JsonValue;
  readonly call: AcpCall;
  readonly action: ProxiedAction;
  readonly abort: AbortController;
  readonly startedMs: number;
  /** The editor has it. */
  isSent: boolean;
  /** Part of an action whose outcome the agent reports. */
  isCovered: boolean;
}

const cancelled = "the call was cancelled";

/** Judges what an agent asks of the editor: permissions, writes of files, terminals. */
export class AcpAgentRequests {
  readonly #peers: AcpPeers;
  readonly #reports: AcpToolReports;
  readonly #terminals: AcpTerminals;
  readonly #open: OpenRequests<OpenRequest>;
  /** What permissions were given for and is not done yet: how often, by its effect. */
  readonly #granted: BoundedMap<string, string>;

  constructor(peers: AcpPeers, sessions: AcpSessions, reports: AcpToolReports, terminals: AcpTerminals) {
    this.#peers = peers;
    this.#open = new OpenRequests("agent", peers, sessions);
    this.#reports = reports;
    this.#terminals = terminals;
    this.#granted = new BoundedMap({ maxSize: peers.limits.maxFollowed });
  }

  /** Judged beside the messages that follow, among which may be its cancellation. */
  open(method: AcpAgentMethod, message: RpcMessage): Promise<void> | undefined {
    const call = this.#open.read(method, message);
    const { id = null } = message;
    if (call === undefined || call instanceof Promise) return call;
    const { clock, work } = this.#peers;
    const open: OpenRequest = {
      id,
      call,
      action: proxiedAction(call),
      abort: new AbortController(),
      startedMs: clock.elapsedMs(),
      isSent: false,
      isCovered: false,
    };
    this.#open.set(idKey(id), open);
    work.add(this.#judge(open));
    return undefined;
  }

  /** Gives up what is judged for a session, and has the hub withdraw its questions. */
  cancelSession(session: string): void {
    this.#open.cancelAll(session);
  }

  /** Gives up one request. False if it is not one that is judged. */
  cancel(id: unknown): boolean {
    return this.#open.get(idKey(id))?.isSent === false && this.#open.cancel(id);
  }

  /** The turn of a session has ended, and what it was permitted with it. */
  turnEnded(session: string): void {
    for (const [key, owner] of this.#granted) if (owner === session) this.#granted.delete(key);
  }

  /** An answer of the editor. False where the editor was not sent the request. */
  noteAnswer({ id, result, error }: RpcMessage): boolean {
    const open = this.#open.get(idKey(id));
    if (open === undefined) return true;
    if (!open.isSent) return false;
    this.#open.delete(idKey(id));
    const { call } = open;
    if (call.method === "session/request_permission") {
      if (error === undefined && isGranted(call.params, result)) this.#allow(open);
      else this.#refused(open, "the editor's user did not allow it");
    } else if (error !== undefined) this.#report(open, errorOutcome(error));
    else this.#done(open, result);
    return true;
  }

  /** The editor has done what was judged. */
  #done(open: OpenRequest, result: JsonValue | undefined): void {
    const { call } = open;
    const { terminalId } = objectOf(result);
    const place = call.method === "terminal/create" ? terminalId : call.params.path;
    if (place !== undefined) this.#reports.carriedOut(call.sessionId, place);
    if (call.method === "terminal/create" && !open.isCovered) {
      const { action, startedMs } = open;
      this.#terminals.start(call.sessionId, terminalId, { action, startedMs });
    } else {
      const shown = boundedResult(result ?? null, this.#peers.limits.maxReportBytes);
      this.#report(open, { outcome: "success", result: shown });
    }
  }

  /** One side has ended. */
  close(): void {
    for (const open of this.#open.values()) {
      if (open.isSent) this.#report(open, { outcome: "unknown", error: "the proxy ended before the answer" });
      else open.abort.abort();
    }
  }

  async #judge(open: OpenRequest): Promise<void> {
    const { judge, limits, agent } = this.#peers;
    const { call, action, abort } = open;
    const effect = effectKey(call);
    const isPermission = call.method === "session/request_permission";
    if (!isPermission && effect !== undefined && this.#granted.delete(effect)) {
      open.isCovered = true;
      return this.#send(open, call.params);
    }
    const { sessionId, toolCallId } = call;
    const isKnown = toolCallId === undefined || this.#reports.isKnown(sessionId, toolCallId);
    const notes = isPermission ? new EditorNotes(this.#peers, call, isKnown) : undefined;
    // No human is asked for an approval that cannot be sent to the agent.
    const problem = isPermission ? grantProblem(call.params) : undefined;
    if (problem !== undefined) return this.#refuse(open, notes, problem, true);
    notes?.start();
    const ruling = await judge.decide(await withPreview(action, this.#peers), {
      holdMs: limits.holdMs,
      signal: abort.signal,
      asks: isPermission,
    });
    notes?.stop();
    if (abort.signal.aborted) {
      this.#open.delete(idKey(open.id));
      if (toolCallId !== undefined) this.#reports.refuse(sessionId, toolCallId);
      this.#report(open, { outcome: "cancelled", error: cancelled });
      if (isPermission) return sendResult(agent, open.id, cancelledPermission);
      return sendError(agent, open.id, codes.cancelled, cancelled);
    }
    if (isPermission) return this.#permit(open, ruling, notes);
    return this.#carryOut(open, ruling);
  }

  async #permit(open: OpenRequest, ruling: ActionRuling, notes: EditorNotes | undefined): Promise<void> {
    const { params } = open.call;
    if (ruling.ruling === "refuse") return this.#refuse(open, notes, ruling.reason, false);
    if (ruling.ruling === "ask") return this.#send(open, askEditor(params));
    if (ruling.isModified) {
      const reason = "the harness changed the call, and a permission cannot change it";
      return this.#refuse(open, notes, reason, true);
    }
    const grant = grantOnce(params);
    if (grant === undefined) return this.#send(open, askEditor(params));
    this.#open.delete(idKey(open.id));
    this.#allow(open);
    return sendResult(this.#peers.agent, open.id, grant);
  }

  /** Refuses a permission. `isOwn`: the guard does, and the harness does not know of it. */
  async #refuse(
    open: OpenRequest,
    notes: EditorNotes | undefined,
    reason: string,
    isOwn: boolean,
  ): Promise<void> {
    const { sessionId, toolCallId = "", params } = open.call;
    this.#open.delete(idKey(open.id));
    if (isOwn) this.#report(open, { outcome: "refused", error: reason });
    this.#reports.refuse(sessionId, toolCallId, reason);
    notes?.refused(reason);
    return sendResult(this.#peers.agent, open.id, refusePermission(params, reason));
  }

  async #carryOut(open: OpenRequest, ruling: ActionRuling): Promise<void> {
    const { agent } = this.#peers;
    const { call, id } = open;
    const params =
      ruling.ruling !== "forward"
        ? `not allowed: ${ruling.reason}`
        : ruling.isModified
          ? withArguments(call, ruling.arguments)
          : call.params;
    if (typeof params === "string") {
      this.#open.delete(idKey(id));
      if (ruling.ruling === "forward") this.#report(open, { outcome: "refused", error: params });
      return sendError(agent, id, codes.refused, `harness guard: ${params}`);
    }
    return this.#send(open, params);
  }

  /** Sends the editor what was judged, written anew: no other reader sees another request in it. */
  async #send(open: OpenRequest, params: JsonObject): Promise<void> {
    const { id, call } = open;
    open.isSent = true;
    const line = exactLine({ jsonrpc: "2.0", id, method: call.method, params });
    const failure = await pass(this.#peers.editor, line);
    if (failure === undefined || !this.#open.delete(idKey(id))) return;
    this.#report(open, { outcome: "unknown", error: failure });
    await sendError(this.#peers.agent, id, codes.internalError, failure);
  }

  #allow({ call, action }: OpenRequest): void {
    const { sessionId } = call;
    this.#reports.allow(sessionId, call.params.toolCall as unknown as AcpToolCall, action);
    const effect = effectKey(call);
    if (effect !== undefined) this.#granted.set(effect, sessionId);
  }

  #refused(open: OpenRequest, reason: string): void {
    const { sessionId, toolCallId = "" } = open.call;
    this.#reports.refuse(sessionId, toolCallId);
    this.#report(open, { outcome: "refused", error: reason });
  }

  #report({ action, startedMs, isCovered }: OpenRequest, outcome: ActionOutcome): void {
    if (!isCovered) this.#peers.judge.report(action, outcome, this.#peers.clock.elapsedMs() - startedMs);
  }
}
