import { randomUUID } from "node:crypto";
import { type AcpCall, withPrompt } from "@harnesskit/agent-hooks/acp";
import type { JsonValue } from "@harnesskit/protocol/envelope";
import { BoundedMap } from "@harnesskit/wire";
import { exactLine } from "../proxy/exact-line.ts";
import { idKey, type RpcMessage } from "../proxy/rpc-message.ts";
import type { ProxiedPrompt } from "../proxy/rulings.ts";
import { type AcpPeers, codes, pass, readCall, say, sendError, sendResult } from "./acp-peers.ts";
import type { AcpSessions } from "./sessions.ts";

interface OpenPrompt {
  readonly message: RpcMessage;
  readonly call: AcpCall;
  readonly abort: AbortController;
}

/** Judges the prompts of the editor's user, and knows when a turn ends. */
export class AcpPrompts {
  readonly #peers: AcpPeers;
  readonly #sessions: AcpSessions;
  /** Prompts that are judged. */
  readonly #open = new Map<string, OpenPrompt>();
  /** The sessions of prompts that the agent has, by the ids of the requests. */
  readonly #turns: BoundedMap<string, string>;

  constructor(peers: AcpPeers, sessions: AcpSessions) {
    this.#peers = peers;
    this.#sessions = sessions;
    this.#turns = new BoundedMap({ maxSize: peers.limits.maxFollowed });
  }

  /** Judged beside the messages that follow. */
  open(message: RpcMessage): Promise<void> | undefined {
    const { editor, limits, note, work } = this.#peers;
    const { id } = message;
    if (id === undefined) {
      note("the editor sent session/prompt without an id: dropped");
      return undefined;
    }
    const key = idKey(id);
    if (this.#open.has(key) || this.#turns.has(key)) {
      return sendError(editor, id, codes.invalidRequest, "the id is in use");
    }
    if (this.#open.size >= limits.maxCalls) {
      const reason = `harness guard: ${limits.maxCalls} prompts are open already`;
      return sendError(editor, id, codes.refused, reason);
    }
    const call = readCall(editor, this.#sessions, "session/prompt", message);
    if (call instanceof Promise) return call;
    const open = { message, call, abort: new AbortController() };
    this.#open.set(key, open);
    work.add(this.#judge(key, open));
    return undefined;
  }

  cancelSession(session: string): void {
    for (const { call, abort } of this.#open.values()) if (call.sessionId === session) abort.abort();
  }

  /** Gives up one prompt. False if it is not one that is judged. */
  cancel(id: unknown): boolean {
    const open = this.#open.get(idKey(id));
    open?.abort.abort();
    return open !== undefined;
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

  close(): void {
    for (const { abort } of this.#open.values()) abort.abort();
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
    this.#open.delete(key);
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
