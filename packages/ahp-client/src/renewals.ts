import type { HandshakeParams } from "@harnesskit/protocol/ahp";
import type { Clock } from "@harnesskit/wire";
import { shakeHands } from "./handshake.ts";
import type { Link, ReadyLine, WaitOptions } from "./link.ts";
import { SharedRun } from "./shared-run.ts";

/** Whom an event comes from. */
export type Origin = Pick<HandshakeParams, "session_id" | "agent_id">;

export interface RenewalsOptions {
  readonly link: Link;
  readonly clock: Clock;
  /** The client's own handshake. */
  readonly params: HandshakeParams;
}

/**
 * Handshakes after a refusal for want of one: the harness has forgotten this agent; or it keeps one for each session, as
 * over HTTP, and an event that its caller built is of another session.
 */
export class Renewals {
  readonly #options: RenewalsOptions;
  readonly #runs = new Map<string, SharedRun<unknown>>();

  constructor(options: RenewalsOptions) {
    this.#options = options;
  }

  /** Shakes hands for each session of what was refused; without any, for the client's own. Rejects as a handshake. */
  async renew(ready: ReadyLine, refused: readonly Origin[], options: WaitOptions): Promise<void> {
    const { link, params } = this.#options;
    const bySession = new Map(refused.map((origin) => [origin.session_id, origin]));
    const isOwn = bySession.delete(params.session_id) || bySession.size === 0;
    await Promise.all([
      isOwn ? link.renew(ready, options) : undefined,
      ...[...bySession.values()].map((origin) => this.#introduce(ready, origin, options)),
    ]);
  }

  async #introduce(ready: ReadyLine, origin: Origin, { timeoutMs, signal }: WaitOptions): Promise<void> {
    const { clock, params } = this.#options;
    const { session_id: session, agent_id } = origin;
    const shared = this.#runs.get(session) ?? new SharedRun<unknown>();
    this.#runs.set(session, shared);
    const other = { ...params, session_id: session, agent_id };
    const run = (stop: AbortSignal) =>
      shakeHands(ready.line, other, { timeoutMs, signal: stop }).finally(() => this.#runs.delete(session));
    await shared.join(run, { clock, name: "ahp/handshake", timeoutMs, signal });
  }
}
