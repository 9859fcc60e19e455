import { type Capabilities, createActionRegistry } from "@harnesskit/protocol/openharness";
import {
  type CreateId,
  InvalidArgumentError,
  quietly,
  randomId,
  resolveBackoff,
  Slots,
  systemClock,
} from "@harnesskit/wire";
import { Asker, readReply } from "./ask-user.ts";
import { buildRequest, type RequestFrame, type RequestParts } from "./build-request.ts";
import { CallScope } from "./call-scope.ts";
import type { CarryOutOptions } from "./carry-out.ts";
import { Conversation, type Opening } from "./conversation.ts";
import { DirectiveWork } from "./directive-work.ts";
import { type EngineLine, toEngineLine } from "./engine-line.ts";
import { type EnvironmentPolicy, filterEnvironment, withHashKey } from "./environment.ts";
import { Executors } from "./executors.ts";
import { assertWhole, maxTimerMs, type ResolvedLimits, resolveLimits } from "./limits.ts";
import { Poster } from "./poster.ts";
import { readPending } from "./read-pending.ts";
import { resolveRules } from "./risk.ts";
import { SessionState } from "./session-state.ts";
import { capabilitiesOf } from "./shell-capabilities.ts";
import { ShellClientError } from "./shell-client-error.ts";
import type {
  ApprovalReply,
  AuthReferences,
  ShellClientOptions,
  ShellSession,
} from "./shell-client-options.ts";
import { shellIdentity } from "./shell-identity.ts";
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
  /** Gives up what is under way, and closes the channel where the engine is one. Idempotent. */
  readonly close: () => Promise<void>;
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
  readonly #limits: ResolvedLimits;
  readonly #createId: CreateId;
  readonly #line: EngineLine;
  readonly #poster: Poster;
  readonly #capabilities: Capabilities;
  readonly #frame: RequestFrame;
  readonly #carryOut: CarryOutOptions;
  readonly #session: SessionState;
  readonly #environment: EnvironmentPolicy;
  /** The calls that are under way. */
  readonly #scopes = new Slots<CallScope>();
  #closed: ShellClientError | undefined;

  constructor(options: ShellClientOptions) {
    const {
      clock = systemClock,
      createId = randomId,
      timeoutMs = 60_000,
      afterRefusal = "continue",
    } = options;
    const { actionTypes = [], approve, random, retry, auth } = options;
    const limits = resolveLimits(options.limits ?? {});
    const registry = createActionRegistry(actionTypes);
    const executors = new Executors(options.executors ?? {});
    assertWhole("timeoutMs", timeoutMs, maxTimerMs);
    assertReferences(auth);
    if (approve !== undefined && typeof approve !== "function") {
      throw new InvalidArgumentError("approve is a function");
    }
    if (afterRefusal !== "continue" && afterRefusal !== "stop") {
      throw new InvalidArgumentError('afterRefusal is "continue" or "stop"');
    }
    const diagnose = (diagnostic: ShellDiagnostic) => quietly(() => options.onDiagnostic?.(diagnostic));
    this.#options = options;
    this.#environment = withHashKey(options.environment);
    this.#limits = limits;
    this.#createId = createId;
    this.#session = new SessionState(options.session ?? { sessionId: createId("sess") }, limits.maxIdLength);
    this.#line = toEngineLine(options.engine, diagnose);
    const backoff = resolveBackoff(
      { ...(random && { random }), ...retry },
      { maxAttempts: 3, initialDelayMs: 500, prefix: "retry." },
    );
    this.#poster = new Poster({ line: this.#line, backoff, timeoutMs, limits, clock, diagnose });
    const canDo = (type: string) => executors.get(type) !== undefined;
    const able = { canAsk: approve !== undefined, canDo, actionTypes };
    this.#capabilities = Object.freeze(capabilitiesOf(options.capabilities ?? {}, able));
    this.#frame = { shell: shellIdentity(options.shell), capabilities: this.#capabilities, auth, limits };
    const { approvalTimeoutMs, executorTimeoutMs, maxParallel } = limits;
    this.#carryOut = {
      work: new DirectiveWork({
        executors,
        registry,
        rules: resolveRules(options.approvalPolicy),
        asker: new Asker({ approve, approvalTimeoutMs, clock }),
        answersApprovals: options.answerApprovals ?? true,
        executorTimeoutMs,
        clock,
        diagnose,
      }),
      maxParallel,
      stopsAfterRefusal: afterRefusal === "stop",
      onResult: (result) => quietly(() => options.onResult?.(result)),
    };
  }

  get session(): ShellSession {
    return this.#session.now;
  }

  readonly send = (ask: ShellAsk): Promise<ShellOutcome> =>
    this.#call(ask, async (correlationId) => {
      const environment = await this.#environmentOf(ask);
      const taken = ask.continuation === undefined ? this.#session.take() : undefined;
      const continuation = ask.continuation || taken;
      try {
        return { request: this.#build({ ask, correlationId, environment, continuation }), taken };
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
    this.#call(signal ? { signal } : {}, async (correlationId) => {
      const answers = await readPending(pending, this.#limits);
      const answer = readReply(decision, answers.digest);
      if (answer.decision === undefined) {
        const code = answer.error.code === "approval_mismatch" ? "approval_mismatch" : "invalid_request";
        throw new ShellClientError(code, "this is no answer to the question", { path: "decision" });
      }
      const approval = { ...answer, digest: answers.digest };
      return {
        request: this.#build({ ask: {}, correlationId, continuation: answers.continuation, approval }),
        answers,
      };
    });

  readonly close = async (): Promise<void> => {
    this.#closed ??= new ShellClientError("closed", "this client is closed");
    for (const scope of this.#scopes) scope.giveUp(this.#closed);
    await this.#line.close();
  };

  /** One call from its beginning to its end, within the client's bounds. */
  async #call(
    { signal, correlationId = this.#createId("corr"), traceparent }: ShellAsk,
    open: (correlationId: string) => Promise<Opening>,
  ): Promise<ShellOutcome> {
    if (this.#closed) throw this.#closed;
    const { maxInFlight } = this.#limits;
    if (this.#scopes.size >= maxInFlight) {
      const message = `${maxInFlight} calls are under way`;
      throw new ShellClientError("overloaded", message, { retryable: true });
    }
    const scope = new CallScope();
    const slot = this.#scopes.add(scope);
    const onAbort = () => scope.giveUp(signal?.reason);
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      const trace = new Trace(correlationId, traceparent);
      return await this.#conversation(trace, scope).run(await open(correlationId));
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#scopes.remove(slot);
    }
  }

  #conversation(trace: Trace, scope: CallScope): Conversation {
    return new Conversation({
      poster: this.#poster,
      carryOut: this.#carryOut,
      session: this.#session,
      capabilities: this.#capabilities,
      maxFollowUps: this.#limits.maxFollowUps,
      trace,
      scope,
      onDenials: (denials) => quietly(() => this.#options.onDenials?.(denials)),
      diagnose: (diagnostic) => quietly(() => this.#options.onDiagnostic?.(diagnostic)),
      buildAnswer: ({ pending: { digest, continuation }, answer }) => {
        const { correlationId } = trace;
        return this.#build({ ask: {}, correlationId, continuation, approval: { ...answer, digest } });
      },
    });
  }

  #build(parts: Pick<RequestParts, "ask" | "correlationId"> & Partial<RequestParts>) {
    return buildRequest(this.#frame, {
      environment: undefined,
      approval: undefined,
      continuation: undefined,
      ...parts,
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
      quietly(() => this.#options.onDiagnostic?.({ code: "environment_withheld", message, details }));
    }
    return state;
  }
}

/**
 * Makes the client of one session. Throws `invalid_argument` for options under which nothing could work, and
 * `ActionRegistryError` for types of actions that cannot be registered.
 */
export const createShellClient = (options: ShellClientOptions): ShellClient => new Client(options);
