import { randomUUID } from "node:crypto";
import { type AcpCall, withPrompt } from "@harnesskit/agent-hooks/acp";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { BoundedMap } from "@harnesskit/wire";
import { exactLine } from "../proxy/exact-line.ts";
import { idKey, type RpcMessage } from "../proxy/rpc-message.ts";
import type { ProxiedPrompt } from "../proxy/rulings.ts";
import { type AcpPeers, codes, pass, say, sendError, sendResult } from "./acp-peers.ts";
import { OpenRequests } from "./open-requests.ts";
import type { AcpSessions } from "./sessions.ts";

interface OpenPrompt {
  readonly message: RpcMessage;
  readonly call: AcpCall;
  readonly abort: AbortController;
}

/** Judges the prompts of the editor's user, and knows when a turn ends. */
export class AcpPrompts {
  readonly #peers: AcpPeers;
  /** Prompts that are judged. */
  readonly open: OpenRequests<OpenPrompt>;
  /** The sessions of prompts that the agent has, by the ids of the requests. */
  readonly #turns: BoundedMap<string, string>;

  constructor(peers: AcpPeers, sessions: AcpSessions) {
    this.#peers = peers;
    this.open = new OpenRequests("editor", peers, sessions);
    this.#turns = new BoundedMap({ maxSize: peers.limits.maxFollowed });
  }

  /** Judged beside the messages that follow. */
  take(message: RpcMessage): Promise<void> | undefined {
    const key = idKey(message.id);
    const call = this.open.read("session/prompt", message, this.#turns.has(key));
    if (call === undefined || call instanceof Promise) return call;
    const open = { message, call, abort: new AbortController() };
    this.open.set(key, open);
    this.#peers.work.add(this.#judge(key, open));
    return undefined;
  }

  /** The session of a prompt that the agent has. */
  turnOf(id: unknown): string | undefined {
    return this.#turns.get(idKey(id));
  }

  /** An answer of the agent: the session whose turn it ends, if it ends one. */
  endedBy({ id }: RpcMessage): string | undefined {
    const session = this.#turns.get(idKey(id));
    this.#turns.delete(idKey(id));
    return session;
  }

  async #judge(key: string, { message, call, abort }: OpenPrompt): Promise<void> {
    const { editor, agent, judge, limits } = this.#peers;
    const { sessionId, metadata } = call;
    const id = message.id as JsonValue;
    const { prompt = "", attachments = [] } = call.prompt ?? {};
    const asked: ProxiedPrompt = {
      callId: randomUUID(),
      prompt,
      session: sessionId,
      metadata,
      details: attachments.length > 0 ? { attachments: [...attachments] } : undefined,
    };
    const ruling = await judge.decidePrompt(asked, { holdMs: limits.holdMs, signal: abort.signal });
    this.open.delete(key);
    if (abort.signal.aborted) {
      judge.withdraw(asked);
      return sendResult(editor, id, { stopReason: "cancelled" });
    }
    if (ruling.ruling === "refuse") return this.#refuse(id, sessionId, ruling.reason);
    const blocks = call.params.prompt as readonly JsonValue[];
    const changed = ruling.isModified ? withPrompt(blocks, ruling.prompt) : blocks;
    if (changed === undefined) {
      return this.#refuse(id, sessionId, "the harness changed the prompt, which has not exactly one text");
    }
    this.#turns.set(key, sessionId);
    const line = exactLine({ ...message, params: { ...call.params, prompt: [...changed] } });
    const failure = await pass(agent, line);
    if (failure === undefined || !this.#turns.delete(key)) return;
    await sendError(editor, id, codes.internalError, failure);
  }

  /** Ends the turn as ACP has it for a refusal: the prompt is not part of the next one. */
  async #refuse(id: JsonValue, sessionId: string, reason: string): Promise<void> {
    const { editor } = this.#peers;
    const content = { type: "text", text: `harness guard: the prompt was not passed on: ${reason}` };
    const update = { sessionUpdate: "agent_message_chunk", content };
    await say(editor, { jsonrpc: "2.0", method: "session/update", params: { sessionId, update } });
    await sendResult(editor, id, { stopReason: "refusal" });
  }
}
