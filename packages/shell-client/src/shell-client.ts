/// <reference lib="esnext.disposable" preserve="true" />
import { type CloseReason, createDeferred } from "@harnesskit/wire";
import { SpanKind, traced } from "@harnesskit/wire/trace";
import { readUserReply } from "./ask-user.ts";
import { buildRequest, type Trace } from "./build-request.ts";
import { type ClientParts, clientParts } from "./client-parts.ts";
import { Conversation, type Opening } from "./conversation.ts";
import { type EnvironmentPolicy, filterEnvironment, withHashKey } from "./environment.ts";
import { checkShellClientOptions } from "./option-names.ts";
import { readPending } from "./read-response.ts";
import { ShellClientError } from "./shell-client-error.ts";
import type { ApprovalReply, ShellClientOptions, ShellSession } from "./shell-client-options.ts";
import type { PendingApproval, ShellOutcome } from "./shell-outcome.ts";
import type { ShellAsk } from "./shell-request.ts";

/** The shell's side of OpenHarness v1, for one session with one engine. All functions are bound. */
export class ShellClient {
  readonly #parts: ClientParts;
  readonly #environment: EnvironmentPolicy;
  /** The calls in progress. */
  readonly #calls = new Set<AbortController>();
  readonly #whenClosed = createDeferred<CloseReason>();
  #closed: ShellClientError | undefined;

  /** @internal */
  constructor(options: ShellClientOptions) {
    this.#parts = clientParts(options);
    this.#environment = withHashKey(options.environment);
  }

  /** Where the conversation is now; to be stored. */
  get session(): ShellSession {
    return this.#parts.session.now;
  }

  /**
   * Sends one request and carries out what comes back, approvals and their answers among it. Rejects with a
   * `ShellClientError` where nothing was sent: `invalid_request` or `closed`. Everything else is in the outcome.
   */
  readonly send = (ask: ShellAsk): Promise<ShellOutcome> =>
    this.#call(ask, async (trace) => {
      const environment = await this.#environmentOf(ask);
      const { session } = this.#parts;
      const taken = ask.continuation === undefined ? session.take() : undefined;
      const continuation = ask.continuation || taken;
      try {
        return { request: buildRequest(this.#parts, { ask, trace, environment, continuation }), taken };
      } catch (error) {
        session.putBack(taken);
        throw error;
      }
    });

  /**
   * Answers a question that was left pending, perhaps by another client of the session, and carries out what comes back.
   * Rejects like `send`, and with `approval_mismatch` where the pending approval's parts do not belong together.
   */
  readonly answer = (
    pending: PendingApproval,
    decision: ApprovalReply,
    { signal }: { readonly signal?: AbortSignal | undefined } = {},
  ): Promise<ShellOutcome> =>
    this.#call({ signal }, async (trace) => {
      const answers = await readPending(pending, this.#parts.limits);
      const answer = readUserReply(decision, answers.digest);
      if (answer.decision === undefined) {
        const code = answer.error.code === "approval_mismatch" ? "approval_mismatch" : "invalid_request";
        throw new ShellClientError(code, "not a valid answer to the question", { path: "decision" });
      }
      const { digest, continuation } = answers;
      const approval = { ...answer, digest };
      return { request: buildRequest(this.#parts, { ask: {}, trace, continuation, approval }), answers };
    });

  /** Gives up the calls in progress, and closes the channel to the engine. Idempotent. */
  readonly close = async (): Promise<void> => {
    this.#closed ??= new ShellClientError("closed", "this client is closed");
    for (const call of this.#calls) call.abort(this.#closed);
    await this.#parts.engine.close();
    this.#whenClosed.resolve({});
  };

  /** Settles when the client is closed; never rejects. */
  get closed(): Promise<CloseReason> {
    return this.#whenClosed.promise;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** One call from its beginning to its end. */
  async #call(
    { signal, correlationId = this.#parts.createId("corr"), intent }: ShellAsk,
    open: (trace: Trace) => Promise<Opening>,
  ): Promise<ShellOutcome> {
    if (this.#closed) throw this.#closed;
    const call = new AbortController();
    this.#calls.add(call);
    const onAbort = () => call.abort(signal?.reason);
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    const start = () => ({
      name: "harness.shell.request",
      kind: SpanKind.CLIENT,
      attributes: {
        "harness.shell.correlation.id": correlationId,
        "gen_ai.conversation.id": this.session.sessionId,
      },
      content: { "gen_ai.input.messages": intent },
      metric: "harness.shell.request.duration",
    });
    try {
      return await traced(start, async (span) => {
        const trace = { correlationId, context: span?.context };
        const outcome = await new Conversation(this.#parts, trace, call.signal).run(await open(trace));
        const { status, error, response } = outcome;
        span?.set({ "harness.shell.status": status, "harness.shell.request.id": response?.request_id });
        span?.fail(error?.code);
        return outcome;
      });
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#calls.delete(call);
    }
  }

  async #environmentOf({ environment }: ShellAsk) {
    if (environment === undefined) return undefined;
    const { state, withheld } = await filterEnvironment(environment, this.#environment).catch(
      (cause: unknown) => {
        const path = "request.context.environment_state";
        throw new ShellClientError("invalid_request", "the environment cannot be sent", { path, cause });
      },
    );
    if (withheld.length > 0) {
      const message = "keys of the environment stayed here";
      const details = { keys: [...withheld] };
      this.#parts.diagnose({ code: "environment_withheld", message, details });
    }
    return state;
  }
}

/**
 * Makes the client of one session. Throws `invalid_argument` for options under which nothing could work, and
 * `ActionRegistryError` for types of actions that cannot be registered.
 */
export const createShellClient = (options: ShellClientOptions): ShellClient =>
  new ShellClient(checkShellClientOptions(options));
