import type { JsonValue } from "@harnesskit/protocol/envelope";
import {
  type Continuation,
  type ShellApprovalAnswer,
  type ShellContext,
  ShellErrorCode,
} from "@harnesskit/protocol/openharness";
import { type Clock, type CreateId, HarnessError } from "@harnesskit/wire";
import type { ContinuationStore } from "./continuation-store.ts";
import { type ContinuationClaims, ContinuationSigner } from "./continuation-token.ts";
import { overloaded } from "./failure.ts";
import type { ShellEngineLimits } from "./limits.ts";
import { ShellEngineError } from "./shell-engine-error.ts";

const invalidContinuation = () =>
  new ShellEngineError(ShellErrorCode.InvalidContinuation, "It was not issued for this request.");
const expired = () =>
  new ShellEngineError(ShellErrorCode.ContinuationExpired, "This continuation has expired.");

const differs = (named: string | undefined, own: string | undefined): boolean =>
  named !== undefined && named !== own;

/** What a continuation is made of, besides its id and its expiry. */
export interface NewContinuation extends Omit<ContinuationClaims, "id" | "expiresAtMs" | "hasData"> {
  readonly data?: JsonValue | undefined;
}

/** Continuations: made, checked, used once. */
export class Continuations {
  readonly #signer: ContinuationSigner;

  constructor(
    key: Uint8Array,
    readonly store: ContinuationStore,
    readonly clock: Clock,
    readonly createId: CreateId,
    readonly limits: ShellEngineLimits,
  ) {
    this.#signer = new ContinuationSigner(key, limits.maxIdLength);
  }

  /** What the request's continuation says; undefined where it has none. Throws `invalid_continuation`. */
  read(context: ShellContext, owner: string): undefined | Promise<ContinuationClaims> {
    const { continuation } = context;
    if (continuation === undefined) return undefined;
    const { continuation_token: token, run_id, sop_id } = continuation;
    if (token !== undefined) return this.#read(token, context, owner);
    if (run_id === undefined && sop_id === undefined) return undefined;
    throw invalidContinuation();
  }

  async #read(token: string, context: ShellContext, owner: string): Promise<ContinuationClaims> {
    const { continuation: { run_id, sop_id } = {}, session_id, conversation_id, task_hint } = context;
    const claims = await this.#signer.verify(token, owner);
    if (!claims) throw invalidContinuation();
    const { session, conversation, run, sop, route } = claims;
    const isOther =
      differs(session_id, session) ||
      differs(conversation_id, conversation) ||
      differs(run_id, run) ||
      differs(sop_id, sop) ||
      (route !== undefined && differs(task_hint?.sop_id, sop));
    if (isOther) throw invalidContinuation();
    return claims;
  }

  /** Throws where it has expired, or where the user's answer is about something else; that uses nothing up. */
  assertUsable(claims: ContinuationClaims | undefined, approval: ShellApprovalAnswer | undefined): void {
    if (claims && this.clock.now() >= claims.expiresAtMs) throw expired();
    if (approval === undefined) return;
    const asked = claims?.digest;
    const isBound =
      approval.digest === undefined ? approval.decision === "refused" : approval.digest === asked;
    if (asked !== undefined && isBound) return;
    throw new ShellEngineError(
      ShellErrorCode.ApprovalMismatch,
      "The answer is not about what was asked: it needs the continuation and the digest of the request_approval.",
    );
  }

  /** Uses it. Resolves with what the run left. Throws `continuation_used`, `continuation_expired` or `engine_overloaded`. */
  async claim({ id, expiresAtMs, hasData }: ContinuationClaims): Promise<JsonValue | undefined> {
    const claim = await this.#claim(id, expiresAtMs);
    if (claim.status === "used") {
      throw new ShellEngineError(ShellErrorCode.ContinuationUsed, "This continuation was used before.");
    }
    if (hasData && claim.data === undefined) throw expired();
    return claim.data;
  }

  /** Releases a claim. */
  async release({ id }: ContinuationClaims): Promise<void> {
    await this.store.release(id);
  }

  async issue(owner: string, { data, ...claims }: NewContinuation): Promise<Continuation> {
    const id = this.createId("cont");
    const expiresAtMs = this.clock.now() + this.limits.continuationMs;
    if (data !== undefined) await this.store.keep(id, data, expiresAtMs, owner);
    const hasData = data === undefined ? undefined : true;
    const token = await this.#signer.sign({ id, expiresAtMs, ...claims, hasData }, owner);
    return { run_id: claims.run, sop_id: claims.sop, continuation_token: token };
  }

  async #claim(id: string, expiresAtMs: number) {
    try {
      return await this.store.claim(id, expiresAtMs);
    } catch (cause) {
      if (!HarnessError.isInstance(cause) || cause.code !== "buffer_full") throw cause;
      throw overloaded(cause);
    }
  }
}
