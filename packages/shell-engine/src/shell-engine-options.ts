import type { ActionType, ShellAuth, ShellIdentity, ShellResponse } from "@harnesskit/protocol/openharness";
import type { Clock, CreateId } from "@harnesskit/wire";
import type { OfferedCapabilities } from "./capability-offer.ts";
import type { ContinuationStore } from "./continuation-store.ts";
import type { ShellEngineLimits } from "./limits.ts";
import type { ShellHandlers } from "./routes.ts";
import type { MaybePromise } from "./shell-call.ts";
import type { WriteLog } from "./shell-log.ts";

/** What an {@link ShellAuthenticate} judges. */
export interface ShellAuthentication<Context> {
  /** `request.auth`, as it came. References; where a deployment puts a token there, this hook alone sees it. */
  readonly auth: ShellAuth | undefined;
  readonly shell: ShellIdentity | undefined;
  /** What the transport knows; its `principal` is who the transport's own check found. */
  readonly context: Context;
  readonly signal: AbortSignal;
}

/**
 * Judges a request before anything else is done with it. What it throws is `internal_error`, or what a `ShellEngineError`
 * says; where it takes too long that is `engine_timeout`. Principals are the same if they are the same string, or have the same JSON.
 */
export type ShellAuthenticate<Context> = (
  request: ShellAuthentication<Context>,
) => MaybePromise<{ readonly principal: unknown } | { readonly refused: "unauthorized" | "forbidden" }>;

export interface ShellEngineOptions<Context = unknown> {
  /** Your code, by what a request names. */
  readonly handlers: ShellHandlers<Context>;
  /** Types of actions beside the core ones, or in their places. @default none */
  readonly actionTypes?: readonly ActionType[] | undefined;
  /**
   * What the engine offers, over what it offers by itself: parallel actions, rich cards, approvals, and what registered types
   * need. A value of false is known and denied.
   * `openharness.streaming: true` offers streams, of the profile `dev.harnesskit.stream`. @default nothing more
   */
  readonly capabilities?: OfferedCapabilities | undefined;
  /** @default every client that the transport accepts, distinguished by its `principal` and by tenant_id and credential_ref */
  readonly authenticate?: ShellAuthenticate<Context> | undefined;
  /** Signs continuations: 32 bytes at least. @default random, so that continuations end with the process */
  readonly continuationKey?: Uint8Array | undefined;
  /** Which continuations were used, and what runs left for them. @default in this process */
  readonly continuations?: ContinuationStore | undefined;
  /** @default see each limit */
  readonly limits?: Partial<ShellEngineLimits> | undefined;
  /** Gets the lines of the log. What it throws is ignored. @default nothing is logged */
  readonly log?: WriteLog | undefined;
  /** Reports what shells do not see: what handlers threw and did wrong. What it throws is ignored. @default nothing is reported */
  readonly onError?: ((error: unknown) => void) | undefined;
  /**
   * Called with each response, those that are remembered among them, before the transport gets it; it must not change it. What
   * it throws is ignored. @default nothing
   */
  readonly onResponse?: ((response: ShellResponse) => unknown) | undefined;
  /** @default the real time */
  readonly clock?: Clock | undefined;
  /** Makes ids of sessions (`sess`), runs (`run`), continuations (`cont`) and streams (`stream`), which must not be guessable. @default 128 random bits */
  readonly createId?: CreateId | undefined;
}
