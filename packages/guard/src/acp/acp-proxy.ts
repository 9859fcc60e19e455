import { type AcpAgentMethod, isAcpMethod, isAcpSettingMethod } from "@harnesskit/agent-hooks/acp";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import {
  type Channel,
  type Clock,
  callSafely,
  type HarnessError,
  InvalidMessageError,
  systemClock,
} from "@harnesskit/wire";
import { checkAcpProxyOptions } from "../option-names.ts";
import type { ActionJudge } from "../proxy/action-judge.ts";
import { BesideWork } from "../proxy/beside-work.ts";
import { exactLine, readExact } from "../proxy/exact-line.ts";
import { type ProxyLimits, proxyLimits } from "../proxy/limits.ts";
import { objectOf, type RpcMessage } from "../proxy/rpc-message.ts";
import { type AcpPeers, codes, type EditPreview, pass, sendError } from "./acp-peers.ts";
import { AcpAgentRequests } from "./agent-requests.ts";
import { AcpAsking, type AcpAskingRule } from "./asking.ts";
import { AcpPrompts } from "./prompts.ts";
import { AcpSettings } from "./session-settings.ts";
import { AcpSessions } from "./sessions.ts";
import { AcpSettingRequests } from "./setting-requests.ts";
import { AcpTerminals } from "./terminals.ts";
import { AcpToolReports } from "./tool-reports.ts";

export interface AcpProxyOptions {
  /** The editor's side, with `keepLines`; not started. It is closed with the proxy. */
  readonly editor: Channel;
  /** The agent's side, with `keepLines`; not started. It is closed with the proxy. */
  readonly agent: Channel;
  readonly judge: ActionJudge;
  /** What an edit would change, as a unified diff, for the human who is asked about it; at most a second is waited for it. @default no preview */
  readonly previewOf?: EditPreview | undefined;
  /** What is done about a session whose agent does not ask before it acts. @default "set" */
  readonly asking?: AcpAskingRule | undefined;
  /** @default see each limit of `proxyLimits` */
  readonly limits?: Partial<ProxyLimits> | undefined;
  /** What the user should know, in a line: messages that were dropped. @default no report */
  readonly onNote?: ((line: string) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/** Requests that only an editor sends. */
const ofEditor: ReadonlySet<unknown> = new Set([
  "session/prompt",
  "session/set_mode",
  "session/set_config_option",
]);
const endsTurn: ReadonlySet<unknown> = new Set(["session/cancel", "session/close", "session/delete"]);
const opensSession: ReadonlySet<unknown> = new Set(["session/load", "session/resume", "session/fork"]);

/** The version of ACP whose requests the proxy reads. */
const acpVersion = 1;

/**
 * Stands between an editor and one ACP agent. Permission requests, writes of files and terminals of the agent, and prompts of the user, are asked
 * about, and the modes and options that the editor sets; the agent's own way of asking is turned on where it has one. Tool calls that the agent
 * reports are recorded, and those that it did not ask about are said to be not judged. Every other message passes byte for byte.
 */
export class AcpProxy {
  readonly #peers: AcpPeers;
  readonly #sessions: AcpSessions;
  readonly #reports: AcpToolReports;
  readonly #terminals: AcpTerminals;
  readonly #requests: AcpAgentRequests;
  readonly #prompts: AcpPrompts;
  readonly #settings: AcpSettings;
  readonly #settingRequests: AcpSettingRequests;
  readonly #asking: AcpAsking;
  #invalid = 0;

  constructor(options: AcpProxyOptions) {
    const { editor, agent, judge, previewOf, asking = "set", limits, onNote, clock = systemClock } = options;
    const note = (line: string) => callSafely(() => onNote?.(line));
    const work = new BesideWork(note);
    this.#peers = { editor, agent, judge, previewOf, clock, note, work, limits: proxyLimits.resolve(limits) };
    const { maxFollowed } = this.#peers.limits;
    this.#sessions = new AcpSessions(judge, maxFollowed);
    this.#reports = new AcpToolReports(this.#peers, this.#sessions);
    this.#terminals = new AcpTerminals(
      ({ action, startedMs }, outcome) => judge.report(action, outcome, clock.elapsedMs() - startedMs),
      maxFollowed,
    );
    this.#requests = new AcpAgentRequests(this.#peers, this.#sessions, this.#reports, this.#terminals);
    this.#prompts = new AcpPrompts(this.#peers, this.#sessions);
    this.#settings = new AcpSettings(maxFollowed);
    this.#settingRequests = new AcpSettingRequests(this.#peers, this.#sessions, this.#settings);
    this.#asking = new AcpAsking(this.#peers, this.#sessions, this.#settings, asking);
  }

  /** Begins, and settles when both sides are closed: with the error of the side that failed. Never rejects. */
  async run(): Promise<HarnessError | undefined> {
    const { editor, agent } = this.#peers;
    for (const [side, other] of [["agent", editor] as const, ["editor", agent] as const]) {
      this.#peers[side].start({
        message: (line) => this.#read(side, line),
        error: (error) => this.#fault(side, error),
        close: () => {
          // Before the agent ends: what it asks for is asked about no more.
          this.#requests.close();
          this.#prompts.open.cancelAll();
          this.#settingRequests.close();
          this.#asking.close();
          void other.close();
        },
      });
    }
    const [ofAgent, ofEditor] = await Promise.all([agent.closed, editor.closed]);
    await this.#peers.work.settled();
    this.#terminals.close();
    this.#reports.close();
    this.#sessions.close();
    return ofAgent.error ?? ofEditor.error;
  }

  #read(side: "editor" | "agent", value: unknown): void | Promise<void> {
    const read = readExact(value);
    if (read === undefined) {
      const error = new InvalidMessageError("not_json", "not a message of JSON-RPC: batches are not taken");
      return this.#fault(side, error);
    }
    const { message } = read;
    const line =
      side === "editor" ? this.#fromEditor(message, read.line) : this.#fromAgent(message, read.line);
    if (line === undefined || line instanceof Promise) return line;
    return this.#forward(side, message, line);
  }

  /** The line to pass on to the agent, if any. */
  #fromEditor(message: RpcMessage, line: ReturnType<typeof exactLine>) {
    const { method, params } = message;
    if (method === undefined) {
      this.#terminals.noteAnswer(message);
      if (this.#requests.noteAnswer(message)) return line;
      this.#peers.note("the editor answered a request that it was not sent: dropped");
      return undefined;
    }
    const { sessionId, requestId } = objectOf(params);
    if (message.id !== undefined && this.#asking.isRefused(sessionId) && !opensSession.has(method)) {
      const reason = "harness guard: the session was refused";
      return sendError(this.#peers.editor, message.id, codes.refused, reason);
    }
    if (method === "session/prompt") return this.#prompts.take(message);
    if (isAcpSettingMethod(method)) return this.#settingRequests.take(method, message);
    this.#sessions.noteRequest(message);
    if (endsTurn.has(method) && typeof sessionId === "string") this.#cancelSession(sessionId);
    if (method === "$/cancel_request") {
      // The agent does not know of what is still judged.
      if (this.#prompts.open.cancel(requestId) || this.#settingRequests.open.cancel(requestId))
        return undefined;
      const session = this.#prompts.turnOf(requestId);
      if (session !== undefined) this.#cancelSession(session);
    }
    if (method === "initialize") return this.#withVersion(message) ?? line;
    return line;
  }

  /** The line to pass on to the editor, if any. */
  #fromAgent(message: RpcMessage, line: ReturnType<typeof exactLine>) {
    const { method, params } = message;
    if (method === undefined) {
      if (this.#asking.noteAnswer(message)) return undefined;
      const opened = this.#sessions.noteAnswer(message);
      if (opened !== undefined) return this.#asking.opened(opened, message, line);
      this.#settingRequests.noteAnswer(message);
      const session = this.#prompts.endedBy(message);
      if (session !== undefined) {
        this.#reports.turnEnded(session);
        this.#requests.turnEnded(session);
      }
      return line;
    }
    if (isAcpMethod(method) && !ofEditor.has(method)) {
      return this.#requests.open(method as AcpAgentMethod, message);
    }
    if (method === "session/update") {
      this.#observeSettings(params);
      const shown = this.#reports.observe(message, line);
      return this.#asking.holds(message, shown) ? undefined : shown;
    }
    // The editor does not know of a request that is still judged.
    if (method === "$/cancel_request" && this.#requests.cancel(objectOf(params).requestId)) return undefined;
    this.#terminals.noteRequest(message);
    return line;
  }

  /** What waits for an answer in a session is not needed any more. */
  #cancelSession(session: string): void {
    this.#requests.cancelSession(session);
    this.#prompts.open.cancelAll(session);
    this.#settingRequests.open.cancelAll(session);
  }

  /** A mode or option that the agent has changed by itself, so that it may ask less. */
  #observeSettings(params: JsonValue | undefined): void {
    const { sessionId, update } = objectOf(params);
    if (typeof sessionId !== "string") return;
    const { agent } = this.#sessions;
    for (const { id, isMode, value } of this.#settings.observe(sessionId, objectOf(update), agent)) {
      this.#peers.note(`not judged: the agent has set ${id} to ${JSON.stringify(value)}, and may ask less`);
      const done = isMode || id === "mode" ? { mode: value } : { option: id, value };
      this.#reports.reportSetting(sessionId, "mode" in done ? "acp:set_mode" : "acp:set_config_option", done);
    }
  }

  /** The request of a newer version, lowered to the one that is read here: the two sides then agree on that. */
  #withVersion(message: RpcMessage) {
    const params = objectOf(message.params);
    const { protocolVersion } = params;
    if (typeof protocolVersion !== "number" || protocolVersion <= acpVersion) return undefined;
    this.#peers.note(`the editor offers version ${protocolVersion} of ACP; the guard reads ${acpVersion}`);
    return exactLine({ ...message, params: { ...params, protocolVersion: acpVersion } });
  }

  async #forward(
    side: "editor" | "agent",
    { id, method }: RpcMessage,
    line: ReturnType<typeof exactLine>,
  ): Promise<void> {
    const { editor, agent, note } = this.#peers;
    const failure = await pass(side === "editor" ? agent : editor, line);
    if (failure === undefined) return;
    const from = side === "editor" ? editor : agent;
    if (method !== undefined && id !== undefined) await sendError(from, id, codes.internalError, failure);
    else note(`a message of the ${side} was dropped: ${failure}`);
  }

  #fault(side: "editor" | "agent", error: HarnessError): void {
    const { note, limits, editor } = this.#peers;
    this.#invalid++;
    if (this.#invalid <= 5) note(`the ${side} sent what is not a message: ${error.message}`);
    if (side === "editor") void sendError(editor, null, codes.parseError, error.message);
    if (this.#invalid === limits.maxInvalidMessages) void this.#peers[side].close(error);
  }
}

/** Creates a proxy; `run()` starts it. Throws `invalid_argument` for a limit out of range. */
export const createAcpProxy = (options: AcpProxyOptions): AcpProxy =>
  new AcpProxy(checkAcpProxyOptions(options));
