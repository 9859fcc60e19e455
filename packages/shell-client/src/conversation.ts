import {
  type Capabilities,
  type CapabilityDenial,
  type Continuation,
  type ShellError,
  ShellErrorCode,
  type ShellResponse,
} from "@harnesskit/protocol/openharness";
import type { Answer } from "./ask-user.ts";
import type { CallScope } from "./call-scope.ts";
import { type CarryOutOptions, carryOut } from "./carry-out.ts";
import type { Posted, Poster, SendableRequest } from "./poster.ts";
import { continuationOf, isContinuationKept, type SessionState } from "./session-state.ts";
import { isParallelWith } from "./shell-capabilities.ts";
import { givenUp, type ShellClientError } from "./shell-client-error.ts";
import type { DirectiveResult, PendingApproval, ShellDiagnostic, ShellOutcome } from "./shell-outcome.ts";
import { toClientError } from "./to-client-error.ts";
import type { Trace } from "./trace.ts";
import { Turnstile } from "./turnstile.ts";

/** A question with its answer, which is to be sent. */
interface Answered {
  readonly pending: PendingApproval;
  readonly answer: Answer;
}

/** What begins a call: a request of the user, or an answer to a question. */
export interface Opening {
  readonly request: SendableRequest;
  /** Of the session, taken by the request. */
  readonly taken?: Continuation | undefined;
  /** What the request answers. */
  readonly answers?: PendingApproval;
}

export interface ConversationOptions {
  readonly poster: Poster;
  readonly carryOut: CarryOutOptions;
  readonly session: SessionState;
  readonly capabilities: Capabilities;
  readonly maxFollowUps: number;
  readonly trace: Trace;
  readonly scope: CallScope;
  readonly onDenials: (denials: readonly CapabilityDenial[]) => void;
  readonly diagnose: (diagnostic: ShellDiagnostic) => void;
  readonly buildAnswer: (answered: Answered) => SendableRequest;
}

const toShellError = ({ code, message, retryable }: ShellClientError): ShellError => ({
  code,
  message,
  retryable,
});

/** One call: a request, what comes of it, and the answers to the questions in it. */
export class Conversation {
  readonly #options: ConversationOptions;
  readonly #turnstile = new Turnstile();
  readonly #results: DirectiveResult[] = [];
  readonly #denials: CapabilityDenial[] = [];
  readonly #pending: PendingApproval[] = [];
  readonly #answers: Answered[] = [];
  #response: ShellResponse | undefined;
  #error: ShellError | undefined;
  #failure: ShellClientError | undefined;

  constructor(options: ConversationOptions) {
    this.#options = options;
  }

  /** Never rejects. */
  async run(opening: Opening): Promise<ShellOutcome> {
    await this.#exchange(opening);
    const { maxFollowUps, scope, diagnose, buildAnswer } = this.#options;
    for (let sent = 0; this.#answers.length > 0; sent++) {
      const next = this.#answers.shift() as Answered;
      if (sent >= maxFollowUps || scope.aborted) {
        this.#pending.push(next.pending);
        if (!scope.aborted) {
          diagnose({ code: "follow_ups_exhausted", message: "an answer was not sent by itself any more" });
        }
        continue;
      }
      try {
        await this.#exchange({ request: buildAnswer(next), answers: next.pending });
      } catch (error) {
        // What the user said cannot be sent: the question stays.
        this.#pending.push(next.pending);
        this.#fail(toClientError(error, undefined));
      }
    }
    if (scope.aborted && this.#error === undefined) this.#fail(givenUp(scope));
    return this.#outcome();
  }

  async #exchange({ request, taken, answers }: Opening): Promise<void> {
    const { poster, session, trace, scope } = this.#options;
    let posted: Posted;
    try {
      posted = await poster.post(request, trace, scope);
    } catch (error) {
      this.#response = undefined;
      this.#settle(undefined, taken, answers);
      this.#fail(toClientError(error, request));
      return;
    }
    const { response, receivedAtMs } = posted;
    this.#response = response;
    this.#settle(response, taken, answers);
    this.#deny(response);
    if (response.response.status === "error") this.#failed(request.request_id, response);
    else {
      session.follow(response);
      await this.#deliver(request.request_id, response, receivedAtMs);
    }
  }

  /** What the request showed is good again where it was not used. */
  #settle(
    response: ShellResponse | undefined,
    taken: Continuation | undefined,
    answers: PendingApproval | undefined,
  ): void {
    const code = response?.response.error?.code;
    if (answers && (isContinuationKept(response) || code === ShellErrorCode.ApprovalMismatch)) {
      this.#pending.push(answers);
    }
    if (taken && isContinuationKept(response)) this.#options.session.putBack(taken);
  }

  #deny({ capability_denials: denials = [] }: ShellResponse): void {
    if (denials.length === 0) return;
    this.#denials.push(...denials);
    this.#options.onDenials(denials);
  }

  async #deliver(requestId: string, response: ShellResponse, receivedAtMs: number): Promise<void> {
    const { capabilities, scope } = this.#options;
    const delivery = {
      directives: response.response.action_directives ?? [],
      requestId,
      receivedAtMs,
      isParallel: isParallelWith(capabilities, response),
      scope,
      turnstile: this.#turnstile,
      continuation: continuationOf(response),
    };
    const { results, questions } = await carryOut(delivery, this.#options.carryOut);
    this.#results.push(...results);
    for (const { pending, answer } of questions) {
      if (answer) this.#answers.push({ pending, answer });
      else this.#pending.push(pending);
    }
  }

  /** Nothing is carried out of a response that says that the request failed. */
  #failed(requestId: string, { response }: ShellResponse): void {
    const error = response.error ?? { code: ShellErrorCode.InternalError, retryable: false };
    this.#error ??= error;
    const directives = response.action_directives ?? [];
    if (directives.length === 0) return;
    const message = "it came with an error";
    this.#options.diagnose({ code: "directives_with_error", message, requestId });
    for (const [index, directive] of directives.entries()) {
      const result: DirectiveResult = {
        directive,
        index,
        requestId,
        outcome: "not_reached",
        error: { code: "engine_error", message },
      };
      this.#results.push(result);
      this.#options.carryOut.onResult(result);
    }
  }

  #fail(failure: ShellClientError): void {
    this.#failure ??= failure;
    this.#error ??= toShellError(failure);
  }

  #outcome(): ShellOutcome {
    const { continuation } = this.#options.session.now;
    const [pendingApproval] = this.#pending;
    return {
      status: this.#error ? "error" : "success",
      ...(this.#error && { error: this.#error }),
      ...(this.#failure && { failure: this.#failure }),
      response: this.#response,
      denials: this.#denials,
      results: this.#results,
      ...(continuation && { continuation }),
      ...(pendingApproval && { pendingApproval }),
      pendingApprovals: this.#pending,
    };
  }
}
