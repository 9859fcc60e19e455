import { InvalidArgumentError } from "@harnesskit/wire";
import type { ApprovalReply, ShellClientOptions, ShellSession } from "./shell-client-options.ts";
import type { PendingApproval, ShellOutcome } from "./shell-outcome.ts";
import type { ShellAsk } from "./shell-request.ts";

/** The shell's side of OpenHarness v1, for one session with one engine. All functions are bound. */
export interface ShellClient {
  /** Where the conversation is now; to be stored. */
  readonly session: ShellSession;
  /**
   * Sends one request and carries out what comes back, approvals and their answers among it. Rejects with a
   * `ShellClientError` where nothing was sent: `invalid_request`, `overloaded` or `closed`. Everything else is in the outcome.
   */
  readonly send: (ask: ShellAsk) => Promise<ShellOutcome>;
  /**
   * Answers a question that was left pending, perhaps by another client of the session, and carries out what comes back.
   * Rejects like `send`, and with `approval_mismatch` where the pending approval's parts do not belong together.
   */
  readonly answer: (
    pending: PendingApproval,
    decision: ApprovalReply,
    options?: { readonly signal?: AbortSignal },
  ) => Promise<ShellOutcome>;
  /** Gives up what is under way, and closes the channel where the engine is one. Idempotent. */
  readonly close: () => Promise<void>;
}

/** Makes the client. Throws `invalid_argument`, and `ActionRegistryError` for types of actions that cannot be registered. */
export const createShellClient = (options: ShellClientOptions): ShellClient => {
  throw new InvalidArgumentError(`not yet ${typeof options.engine}`);
};
