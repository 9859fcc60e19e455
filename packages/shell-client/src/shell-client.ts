/// <reference lib="esnext.disposable" preserve="true" />
import { createActionRegistry } from "@harnesskit/protocol/openharness";
import {
  type CloseReason,
  type CreateId,
  callSafely,
  checkNumber,
  createDeferred,
  InvalidArgumentError,
  randomId,
  resolveBackoff,
  systemClock,
} from "@harnesskit/wire";
import { inSpan, readTraceContext, SpanKind, startSpan } from "@harnesskit/wire/trace";
import { intentOf, readUserReply } from "./ask-user.ts";
import { buildRequest, type RequestFrame, type RequestParts } from "./build-request.ts";
import { Conversation, type ConversationOptions, type Opening } from "./conversation.ts";
import { DirectiveWork } from "./directive-work.ts";
import { type Engine, toEngine } from "./engine.ts";
import { type EnvironmentPolicy, filterEnvironment, withHashKey } from "./environment.ts";
import { type ShellClientLimits, shellClientLimits } from "./limits.ts";
import { checkShellClientOptions } from "./option-names.ts";
import { readPending } from "./read-response.ts";
import { resolveRules } from "./risk.ts";
import { SessionState } from "./session-state.ts";
import { capabilitiesOf, resolveExecutors, shellIdentity } from "./shell-capabilities.ts";
import { ShellClientError } from "./shell-client-error.ts";
import type {
  ApprovalReply,
  AuthReferences,
  ShellClientOptions,
  ShellSession,
} from "./shell-client-options.ts";
import type { PendingApproval, ShellDiagnostic, ShellOutcome } from "./shell-outcome.ts";
import type { ShellAsk } from "./shell-request.ts";
import { Trace } from "./trace.ts";

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
  /** Gives up the calls in progress, and closes the channel to the engine. Idempotent. */
  readonly close: () => Promise<void>;
  /** Settles when the client is closed; never rejects. */
  readonly closed: Promise<CloseReason>;
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

const references: ReadonlySet<string> = new Set(["tenant_id", "credential_ref", "session_id"]);

/** Credentials belong into the transport (section 7). */
const assertReferences = (auth: AuthReferences = {}): void => {
  for (const key of Object.keys(auth)) {
    if (references.has(key)) continue;
    throw new InvalidArgumentError(`auth has references alone (${[...references].join(", ")}), not ${key}`);
  }
};

class Client implements ShellClient {
  readonly #options: ShellClientOptions;
  readonly #limits: ShellClientLimits;
  readonly #createId: CreateId;
  readonly #engine: Engine;
  readonly #frame: RequestFrame;
  readonly #conversation: ConversationOptions;
  readonly #session: SessionState;
  readonly #environment: EnvironmentPolicy;
  /** The calls in progress. */
  readonly #calls = new Set<AbortController>();
  readonly #whenClosed = createDeferred<CloseReason>();
  #closed: ShellClientError | undefined;

  constructor(options: ShellClientOptions) {
    const {
      clock = systemClock,
      createId = randomId,
      timeoutMs = 60_000,
      afterRefusal = "continue",
    } = options;
    const { actionTypes = [], approve, retry = {}, auth, onStream } = options;
    const limits = shellClientLimits.resolve(options.limits);
    const registry = createActionRegistry(actionTypes);
    const executors = resolveExecutors(options.executors);
    checkNumber("timeoutMs", timeoutMs);
    assertReferences(auth);
    if (approve !== undefined && typeof approve !== "function") {
      throw new InvalidArgumentError("approve must be a function");
    }
    const diagnose = (diagnostic: ShellDiagnostic) => callSafely(() => options.onDiagnostic?.(diagnostic));
    this.#options = options;
    this.#environment = withHashKey(options.environment);
    this.#limits = limits;
    this.#createId = createId;
    this.#session = new SessionState(options.session ?? { sessionId: createId("sess") }, limits.maxIdLength);
    this.#engine = toEngine(options.engine, diagnose);
    const backoff = resolveBackoff(retry, { maxAttempts: 5, initialDelayMs: 500, prefix: "retry." });
    if (onStream !== undefined && typeof onStream !== "function") {
      throw new InvalidArgumentError("onStream must be a function");
    }
    const canStream = onStream !== undefined && this.#engine.canStream;
    const able = { canAsk: approve !== undefined, executors, actionTypes, canStream };
    const capabilities = Object.freeze(capabilitiesOf(options.capabilities ?? {}, able));
    this.#frame = { shell: shellIdentity(options.shell), capabilities, auth, limits };
    const { approvalTimeoutMs, executorTimeoutMs } = limits;
    this.#conversation = {
      post: {
        engine: this.#engine,
        backoff,
        timeoutMs,
        limits,
        clock,
        diagnose,
        onStream: onStream && ((event) => callSafely(() => onStream(event))),
      },
      work: new DirectiveWork({
        executors,
        registry,
        rules: resolveRules(options.approvalPolicy),
        approve,
        approvalTimeoutMs,
        answersApprovals: options.answerApprovals ?? true,
        executorTimeoutMs,
        clock,
        diagnose,
      }),
      session: this.#session,
      capabilities,
      stopsAfterRefusal: afterRefusal === "stop",
      onDenials: (denials) => callSafely(() => options.onDenials?.(denials)),
      onResult: (result) => callSafely(() => options.onResult?.(result)),
      diagnose,
      buildAnswer: ({ pending, answer }, trace) => {
        if (pending === undefined) return this.#build({ ask: { intent: intentOf(answer) }, trace });
        const { digest, continuation } = pending;
        return this.#build({ ask: {}, trace, continuation, approval: { ...answer, digest } });
      },
    };
  }

  get session(): ShellSession {
    return this.#session.now;
  }

  readonly send = (ask: ShellAsk): Promise<ShellOutcome> =>
    this.#call(ask, async (trace) => {
      const environment = await this.#environmentOf(ask);
      const taken = ask.continuation === undefined ? this.#session.take() : undefined;
      const continuation = ask.continuation || taken;
      try {
        return { request: this.#build({ ask, trace, environment, continuation }), taken };
      } catch (error) {
        this.#session.putBack(taken);
        throw error;
      }
    });

  readonly answer = (
    pending: PendingApproval,
    decision: ApprovalReply,
    { signal }: { readonly signal?: AbortSignal } = {},
  ): Promise<ShellOutcome> =>
    this.#call(signal ? { signal } : {}, async (trace) => {
      const answers = await readPending(pending, this.#limits);
      const answer = readUserReply(decision, answers.digest);
      if (answer.decision === undefined) {
        const code = answer.error.code === "approval_mismatch" ? "approval_mismatch" : "invalid_request";
        throw new ShellClientError(code, "not a valid answer to the question", { path: "decision" });
      }
      const approval = { ...answer, digest: answers.digest };
      return {
        request: this.#build({ ask: {}, trace, continuation: answers.continuation, approval }),
        answers,
      };
    });

  readonly close = async (): Promise<void> => {
    this.#closed ??= new ShellClientError("closed", "this client is closed");
    for (const call of this.#calls) call.abort(this.#closed);
    await this.#engine.close();
    this.#whenClosed.resolve({});
  };

  get closed(): Promise<CloseReason> {
    return this.#whenClosed.promise;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** One call from its beginning to its end, within the client's bounds. */
  async #call(
    { signal, correlationId = this.#createId("corr"), traceparent, intent }: ShellAsk,
    open: (trace: Trace) => Promise<Opening>,
  ): Promise<ShellOutcome> {
    if (this.#closed) throw this.#closed;
    const { maxInFlight } = this.#limits;
    if (this.#calls.size >= maxInFlight) {
      const message = `${maxInFlight} calls are in progress`;
      throw new ShellClientError("overloaded", message, { retryable: true });
    }
    const call = new AbortController();
    this.#calls.add(call);
    const onAbort = () => call.abort(signal?.reason);
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    const span = startSpan(() => ({
      name: "harness.shell.request",
      kind: SpanKind.CLIENT,
      attributes: {
        "harness.shell.correlation.id": correlationId,
        "gen_ai.conversation.id": this.#session.now.sessionId,
      },
      content: { "gen_ai.input.messages": intent },
      metric: "harness.shell.request.duration",
      parent: readTraceContext({ traceparent }),
    }));
    try {
      const trace = new Trace(correlationId, traceparent, span?.context);
      const run = async () => new Conversation(this.#conversation, trace, call.signal).run(await open(trace));
      const outcome = await inSpan(span, run);
      const { status, error } = outcome;
      span?.set({
        "harness.shell.status": status,
        "harness.shell.request.id": outcome.response?.request_id,
      });
      span?.end(error);
      return outcome;
    } catch (error) {
      span?.end(error);
      throw error;
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#calls.delete(call);
    }
  }

  #build({
    trace: { correlationId, context },
    ...parts
  }: Pick<RequestParts, "ask"> & Partial<Omit<RequestParts, "trace">> & { readonly trace: Trace }) {
    return buildRequest(this.#frame, {
      environment: undefined,
      approval: undefined,
      continuation: undefined,
      ...parts,
      correlationId,
      trace: context,
      requestId: this.#createId("req"),
      session: this.#session.now,
    });
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
      callSafely(() => this.#options.onDiagnostic?.({ code: "environment_withheld", message, details }));
    }
    return state;
  }
}

/**
 * Makes the client of one session. Throws `invalid_argument` for options under which nothing could work, and
 * `ActionRegistryError` for types of actions that cannot be registered.
 */
export const createShellClient = (options: ShellClientOptions): ShellClient =>
  new Client(checkShellClientOptions(options));
