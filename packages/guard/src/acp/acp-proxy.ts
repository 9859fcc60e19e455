import { isAcpMethod } from "@harnesskit/agent-hooks/acp";
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
import { AcpPrompts } from "./prompts.ts";
import { AcpSessions } from "./sessions.ts";
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
  /** @default see each limit of `proxyLimits` */
  readonly limits?: Partial<ProxyLimits> | undefined;
  /** What the user should know, in a line: messages that were dropped. @default no report */
  readonly onNote?: ((line: string) => void) | undefined;
  readonly clock?: Clock | undefined;
}

/** The version of ACP whose requests the proxy reads. */
const acpVersion = 1;

/**
 * Stands between an editor and one ACP agent. Permission requests, writes of files and terminals of the agent, and prompts of the user, are asked
 * about; tool calls that the agent reports are recorded; every other message passes byte for byte.
 */
export class AcpProxy {
  readonly #peers: AcpPeers;
  readonly #sessions: AcpSessions;
  readonly #reports: AcpToolReports;
  readonly #terminals: AcpTerminals;
  readonly #requests: AcpAgentRequests;
  readonly #prompts: AcpPrompts;
  #invalid = 0;

  constructor({ editor, agent, judge, previewOf, limits, onNote, clock = systemClock }: AcpProxyOptions) {
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
          this.#prompts.close();
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
    if (method === "session/prompt") return this.#prompts.open(message);
    this.#sessions.noteRequest(message);
    if (method === "session/cancel") {
      const { sessionId } = objectOf(params);
      if (typeof sessionId === "string") {
        this.#requests.cancelSession(sessionId);
        this.#prompts.cancelSession(sessionId);
      }
    }
    // The agent does not know of a prompt that is still judged.
    if (method === "$/cancel_request" && this.#prompts.cancel(objectOf(params).requestId)) return undefined;
    if (method === "initialize") return this.#withVersion(message) ?? line;
    return line;
  }

  /** The line to pass on to the editor, if any. */
  #fromAgent(message: RpcMessage, line: ReturnType<typeof exactLine>) {
    const { method, params } = message;
    if (method === undefined) {
      this.#sessions.noteAnswer(message);
      const session = this.#prompts.endedBy(message);
      if (session !== undefined) {
        this.#reports.turnEnded(session);
        this.#requests.turnEnded(session);
      }
      return line;
    }
    if (isAcpMethod(method) && method !== "session/prompt") return this.#requests.open(method, message);
    if (method === "session/update") this.#reports.observe(params);
    // The editor does not know of a request that is still judged.
    if (method === "$/cancel_request" && this.#requests.cancel(objectOf(params).requestId)) return undefined;
    this.#terminals.noteRequest(message);
    return line;
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
