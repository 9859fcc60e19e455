import type { Host } from "@harnesskit/agent-hooks";
import { AHP_VERSION, type AhpEvent } from "@harnesskit/protocol/ahp";
import { BoundedSet } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";

/** What the harness knows of the sender of a hook's event. */
export interface HookContext {
  /** `guard:` and the id of the host. */
  readonly principal: string;
  readonly transport: "hook";
  /** Aborts when the host does not wait any more. */
  readonly signal: AbortSignal;
}

/** The harness that decides: `createAhpServer` of `@harnesskit/ahp-server`, a hub, or an exchange with another. */
export interface GuardHarness {
  /** Takes one message of AHP and resolves with its answer, or with undefined for a notification. */
  readonly handle: (message: unknown, context: HookContext) => Promise<unknown>;
}

/** A decision as the harness gave it, not yet checked, or why it is missing. */
export type HarnessAnswer = { readonly decision: unknown } | { readonly failure: string };

const errorOf = (reply: unknown): { readonly message: string; readonly reason: unknown } | undefined => {
  if (!isObject(reply) || !isObject(reply.error)) return undefined;
  const { message, data } = reply.error;
  return {
    message: typeof message === "string" ? message : "an error without a message",
    reason: isObject(data) ? data.reason : undefined,
  };
};

/** Sends events of hooks to a harness; introduces each session of a host first. */
export class HarnessLine {
  readonly #harness: GuardHarness;
  readonly #version: string;
  readonly #greeted: BoundedSet<string>;
  #count = 0;

  constructor(harness: GuardHarness, version: string, maxSessions: number) {
    this.#harness = harness;
    this.#version = version;
    this.#greeted = new BoundedSet({ maxSize: maxSessions });
  }

  /** Asks about an event. Rejects only as the harness does. */
  async ask(host: Host, event: AhpEvent, signal: AbortSignal): Promise<HarnessAnswer> {
    const reply = await this.#send(host, event, signal, true);
    const error = errorOf(reply);
    if (error) return { failure: error.message };
    return isObject(reply) && "result" in reply ? { decision: reply.result } : { failure: "no answer" };
  }

  /** Reports an event that asks nothing. Rejects only as the harness does. */
  async report(host: Host, event: AhpEvent, signal: AbortSignal): Promise<void> {
    await this.#send(host, event, signal, false);
  }

  async #send(host: Host, event: AhpEvent, signal: AbortSignal, wantsAnswer: boolean): Promise<unknown> {
    const context: HookContext = { principal: `guard:${host.id}`, transport: "hook", signal };
    const key = JSON.stringify([host.id, event.session_id]);
    const send = async () => {
      if (!this.#greeted.has(key)) await this.#greet(host, event, context, key);
      const id = wantsAnswer ? { id: `hook-${++this.#count}` } : {};
      return this.#harness.handle({ jsonrpc: "2.0", ...id, method: "ahp/event", params: event }, context);
    };
    const reply = await send();
    // The harness forgot it: it was restarted, or the session was silent for a day.
    if (errorOf(reply)?.reason !== "handshake_required") return reply;
    this.#greeted.delete(key);
    return send();
  }

  async #greet(
    host: Host,
    { session_id, agent_id }: AhpEvent,
    context: HookContext,
    key: string,
  ): Promise<void> {
    const capabilities = [...new Set(Object.values(host.events).map(({ ahp }) => ahp))];
    const params = {
      protocol_version: AHP_VERSION,
      agent_info: { framework: host.name, version: this.#version, capabilities },
      session_id,
      agent_id,
    };
    const id = `hook-${++this.#count}`;
    await this.#harness.handle({ jsonrpc: "2.0", id, method: "ahp/handshake", params }, context);
    this.#greeted.add(key);
  }
}
