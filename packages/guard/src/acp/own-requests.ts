import { randomUUID } from "node:crypto";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { type Channel, type Clock, createDeferred, type Deferred } from "@harnesskit/wire";
import { settleWithin } from "@harnesskit/wire/time";
import { exactLine } from "../proxy/exact-line.ts";
import { idKey, type RpcMessage } from "../proxy/rpc-message.ts";
import { pass } from "./acp-peers.ts";

/** Requests that the guard itself sends to the agent. */
export class OwnRequests {
  readonly #agent: Channel;
  readonly #clock: Clock;
  readonly #pending = new Map<string, Deferred<RpcMessage>>();

  constructor({ agent, clock }: { readonly agent: Channel; readonly clock: Clock }) {
    this.#agent = agent;
    this.#clock = clock;
  }

  /** Sends a request. Resolves with why it failed, or undefined where the agent has done it. Never rejects. */
  async send(method: string, params: JsonObject, timeoutMs: number): Promise<string | undefined> {
    // No id of an editor looks like this one.
    const id = `harness-guard-${randomUUID()}`;
    const answer = createDeferred<RpcMessage>();
    this.#pending.set(idKey(id), answer);
    const failure = await pass(this.#agent, exactLine({ jsonrpc: "2.0", id, method, params }));
    if (failure !== undefined) answer.resolve({ error: { message: failure } });
    const settled = await settleWithin(answer.promise, { name: method, timeoutMs, clock: this.#clock });
    this.#pending.delete(idKey(id));
    if (settled.status !== "done") return "the agent did not answer in time";
    const { error } = settled.value as { readonly error?: { readonly message?: unknown } };
    if (error === undefined) return undefined;
    return typeof error.message === "string" ? error.message.slice(0, 300) : "the agent refused it";
  }

  /** An answer of the agent. False where it is not to a request of the guard. */
  noteAnswer(message: RpcMessage): boolean {
    const answer = this.#pending.get(idKey(message.id));
    answer?.resolve(message);
    return (
      answer !== undefined || (typeof message.id === "string" && message.id.startsWith("harness-guard-"))
    );
  }

  /** The agent has ended. */
  close(): void {
    for (const answer of this.#pending.values())
      answer.resolve({ error: { message: "the agent has ended" } });
  }
}
