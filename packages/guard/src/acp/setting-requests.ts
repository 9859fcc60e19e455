import type { AcpCall, AcpSettingMethod } from "@harnesskit/agent-hooks/acp";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { BoundedMap } from "@harnesskit/wire";
import { exactLine } from "../proxy/exact-line.ts";
import { idKey, type RpcMessage } from "../proxy/rpc-message.ts";
import { type ActionOutcome, errorOutcome, type ProxiedAction } from "../proxy/rulings.ts";
import { type AcpPeers, codes, pass, proxiedAction, sendError } from "./acp-peers.ts";
import { OpenRequests } from "./open-requests.ts";
import type { AcpSettings } from "./session-settings.ts";
import type { AcpSessions } from "./sessions.ts";

interface SettingRequest {
  readonly message: RpcMessage;
  readonly call: AcpCall;
  readonly action: ProxiedAction;
  readonly abort: AbortController;
  readonly startedMs: number;
  /** The former value, once the agent has the request. */
  before?: JsonValue | undefined;
}

const cancelled = "the request was cancelled";

/** Judges what the editor's user sets of a session: its mode and its options, by which an agent may ask less. */
export class AcpSettingRequests {
  readonly #peers: AcpPeers;
  readonly #settings: AcpSettings;
  /** Those that are judged. */
  readonly open: OpenRequests<SettingRequest>;
  /** Those that the agent has. */
  readonly #sent: BoundedMap<string, SettingRequest>;

  constructor(peers: AcpPeers, sessions: AcpSessions, settings: AcpSettings) {
    this.#peers = peers;
    this.#settings = settings;
    this.open = new OpenRequests("editor", peers, sessions, settings);
    this.#sent = new BoundedMap({ maxSize: peers.limits.maxFollowed });
  }

  /** Judged beside the messages that follow. */
  take(method: AcpSettingMethod, message: RpcMessage): Promise<void> | undefined {
    const key = idKey(message.id);
    const call = this.open.read(method, message, this.#sent.has(key));
    if (call === undefined || call instanceof Promise) return call;
    this.#withdrawEarlier(call);
    const { clock, work } = this.#peers;
    const action = proxiedAction(call);
    const open = { message, call, action, abort: new AbortController(), startedMs: clock.elapsedMs() };
    this.open.set(key, open);
    work.add(this.#judge(key, open));
    return undefined;
  }

  /** What the user chooses last is what holds: an earlier choice that still waits for an answer is not to come behind it. */
  #withdrawEarlier(later: AcpCall): void {
    for (const { call, abort } of this.open.values()) {
      if (call.sessionId === later.sessionId && settingOf(call).id === settingOf(later).id) abort.abort();
    }
  }

  /** An answer of the agent. */
  noteAnswer({ id, result, error }: RpcMessage): void {
    const key = idKey(id);
    const sent = this.#sent.get(key);
    if (sent === undefined) return;
    this.#sent.delete(key);
    const { sessionId } = sent.call;
    if (error === undefined) {
      this.#settings.answered(sessionId, result);
      this.#report(sent, { outcome: "success", result: null });
      return;
    }
    if (sent.before !== undefined) this.#settings.set(sessionId, settingOf(sent.call).id, sent.before);
    this.#report(sent, errorOutcome(error));
  }

  close(): void {
    this.open.cancelAll();
    for (const sent of this.#sent.values()) {
      this.#report(sent, { outcome: "unknown", error: "the proxy ended before the answer" });
    }
    this.#sent.clear();
  }

  async #judge(key: string, open: SettingRequest): Promise<void> {
    const { editor, agent, judge, limits, note } = this.#peers;
    const { message, call, action, abort } = open;
    const id = message.id as JsonValue;
    const ruling = await judge.decide(action, { holdMs: limits.holdMs, signal: abort.signal });
    this.open.delete(key);
    if (abort.signal.aborted) {
      this.#report(open, { outcome: "cancelled", error: cancelled });
      return sendError(editor, id, codes.cancelled, cancelled);
    }
    const refuse = (reason: string) =>
      sendError(editor, id, codes.refused, `harness guard: not allowed: ${reason}`);
    if (ruling.ruling !== "forward") return refuse(ruling.reason);
    if (ruling.isModified) {
      const reason = "the harness changed the setting, and a setting cannot be changed on its way";
      this.#report(open, { outcome: "refused", error: reason });
      return refuse(reason);
    }
    const { id: setting, value } = settingOf(call);
    if (call.metadata.loosens === true) {
      note(`the editor has set ${setting} to ${JSON.stringify(value)}: the agent may do more without asking`);
    }
    open.before = this.#settings.set(call.sessionId, setting, value);
    this.#sent.set(key, open);
    const failure = await pass(agent, exactLine({ ...message, params: call.params }));
    if (failure === undefined || !this.#sent.delete(key)) return;
    this.#report(open, { outcome: "error", error: failure });
    await sendError(editor, id, codes.internalError, failure);
  }

  #report({ action, startedMs }: SettingRequest, outcome: ActionOutcome): void {
    const { judge, clock } = this.#peers;
    judge.report(action, outcome, clock.elapsedMs() - startedMs);
  }
}

const settingOf = ({ params: { modeId, configId, value } }: AcpCall): { id: string; value: JsonValue } =>
  typeof modeId === "string"
    ? { id: "mode", value: modeId }
    : { id: configId as string, value: value as JsonValue };
