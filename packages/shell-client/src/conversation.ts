import {
  type ActionDirective,
  type CapabilityDenial,
  type Continuation,
  type ShellError,
  ShellErrorCode,
  type ShellResponse,
} from "@harnesskit/protocol/openharness";
import { Lane } from "@harnesskit/wire/rpc";
import { type Answer, intentOf } from "./ask-user.ts";
import { buildRequest } from "./build-request.ts";
import type { ClientParts } from "./client-parts.ts";
import { DirectiveWork, type Worked } from "./directive-work.ts";
import type { SendableRequest } from "./engine.ts";
import { planOf } from "./plan.ts";
import { type Posted, postRequest } from "./post-request.ts";
import { continuationOf, isContinuationKept } from "./session-state.ts";
import { isParallelWith } from "./shell-capabilities.ts";
import { givenUp, type ShellClientError, toClientError } from "./shell-client-error.ts";
import type { DirectiveResult, PendingApproval, ShellOutcome } from "./shell-outcome.ts";
import type { Trace } from "./trace.ts";

/** An answer that is to be sent, and what it answers; undefined where the engine gave nothing to answer its question with. */
interface Answered {
  readonly pending: PendingApproval | undefined;
  readonly answer: Answer;
}

/** What begins a call: a request of the user, or an answer to a question. */
export interface Opening {
  readonly request: SendableRequest;
  /** Of the session, taken by the request. */
  readonly taken?: Continuation | undefined;
  /** What the request answers. */
  readonly answers?: PendingApproval | undefined;
}

const toShellError = ({ code, message, retryable }: ShellClientError): ShellError => ({
  code,
  message,
  retryable,
});

/** One call: a request, what comes of it, and the answers to the questions in it. */
export class Conversation {
  readonly #parts: ClientParts;
  readonly #work: DirectiveWork;
  readonly #trace: Trace;
  readonly #signal: AbortSignal;
  readonly #questions = new Lane(1);
  readonly #results: DirectiveResult[] = [];
  readonly #denials: CapabilityDenial[] = [];
  readonly #pending: PendingApproval[] = [];
  readonly #answers: Answered[] = [];
  #response: ShellResponse | undefined;
  #error: ShellError | undefined;
  #failure: ShellClientError | undefined;

  constructor(parts: ClientParts, trace: Trace, signal: AbortSignal) {
    this.#parts = parts;
    this.#work = new DirectiveWork(parts);
    this.#trace = trace;
    this.#signal = signal;
  }

  /** Never rejects. */
  async run(opening: Opening): Promise<ShellOutcome> {
    await this.#exchange(opening);
    const { limits, diagnose } = this.#parts;
    const signal = this.#signal;
    for (let sent = 0; this.#answers.length > 0; sent++) {
      const next = this.#answers.shift() as Answered;
      if (sent >= limits.maxFollowUps || signal.aborted) {
        this.#keep(next.pending);
        if (!signal.aborted) {
          diagnose({ code: "follow_ups_exhausted", message: "an answer was not sent by itself any more" });
        }
        continue;
      }
      try {
        await this.#exchange({ request: this.#toRequest(next), answers: next.pending });
      } catch (error) {
        // What the user said cannot be sent: the question stays.
        this.#keep(next.pending);
        this.#fail(toClientError(error, undefined));
      }
    }
    if (signal.aborted && this.#error === undefined) this.#fail(givenUp(signal));
    return this.#outcome();
  }

  /** An answer as a request; in words where the engine gave nothing to answer its question with. */
  #toRequest({ pending, answer }: Answered): SendableRequest {
    const trace = this.#trace;
    if (pending === undefined) return buildRequest(this.#parts, { ask: { intent: intentOf(answer) }, trace });
    const { digest, continuation } = pending;
    return buildRequest(this.#parts, { ask: {}, trace, continuation, approval: { ...answer, digest } });
  }

  async #exchange({ request, taken, answers }: Opening): Promise<void> {
    const { session } = this.#parts;
    let posted: Posted;
    try {
      posted = await postRequest(request, this.#trace, this.#signal, this.#parts);
    } catch (error) {
      this.#response = undefined;
      this.#settle(undefined, taken, answers);
      this.#fail(toClientError(error, request));
      return;
    }
    const { response } = posted;
    this.#response = response;
    this.#settle(response, taken, answers);
    this.#deny(response);
    if (response.response.status === "error") this.#failed(request.request_id, response);
    else {
      session.follow(response);
      await this.#deliver(request.request_id, posted);
    }
  }

  #keep(pending: PendingApproval | undefined): void {
    if (pending) this.#pending.push(pending);
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
    if (taken && isContinuationKept(response)) this.#parts.session.putBack(taken);
  }

  #deny({ capability_denials: denials = [] }: ShellResponse): void {
    if (denials.length === 0) return;
    this.#denials.push(...denials);
    this.#parts.onDenials(denials);
  }

  /** Carries the directives out, group by group. Never rejects: each has its result, whatever became of the others. */
  async #deliver(requestId: string, { response, receivedMs, invalid }: Posted): Promise<void> {
    const { capabilities, limits, stopsAfterRefusal, onResult } = this.#parts;
    const directives = response.response.action_directives ?? [];
    const continuation = continuationOf(response);
    const worked: Worked[] = [];
    let isStopped = false;
    const carryOut = async (index: number): Promise<void> => {
      const directive = directives[index] as ActionDirective;
      const { deadline_ms } = directive;
      const done = await this.#work.do({
        directive,
        index,
        requestId,
        invalidAt: invalid.get(index),
        // Deadlines count from the response (section 10).
        dueMs: deadline_ms === undefined ? undefined : receivedMs + deadline_ms,
        signal: this.#signal,
        questions: this.#questions,
        isStopped: () => isStopped,
        onRefusal: () => {
          isStopped = stopsAfterRefusal;
        },
        continuation,
      });
      worked[index] = done;
      onResult(done.result);
    };
    for (const group of planOf(directives, isParallelWith(capabilities, response))) {
      const lane = new Lane(limits.maxParallel);
      await Promise.all(group.map((index) => lane.run(() => carryOut(index))));
    }
    for (const { result, question } of worked) {
      this.#results.push(result);
      if (question?.answer) this.#answers.push({ pending: question.pending, answer: question.answer });
      else this.#keep(question?.pending);
    }
  }

  /** Nothing is carried out of a response that says that the request failed. */
  #failed(requestId: string, { response }: ShellResponse): void {
    const error = response.error ?? { code: ShellErrorCode.InternalError, retryable: false };
    this.#error ??= error;
    const directives = response.action_directives ?? [];
    if (directives.length === 0) return;
    const message = "it came with an error";
    this.#parts.diagnose({ code: "directives_with_error", message, requestId });
    for (const [index, directive] of directives.entries()) {
      const result: DirectiveResult = {
        directive,
        index,
        requestId,
        outcome: "not_reached",
        error: { code: "engine_error", message },
      };
      this.#results.push(result);
      this.#parts.onResult(result);
    }
  }

  #fail(failure: ShellClientError): void {
    this.#failure ??= failure;
    this.#error ??= toShellError(failure);
  }

  #outcome(): ShellOutcome {
    const { continuation } = this.#parts.session.now;
    const [pendingApproval] = this.#pending;
    return {
      status: this.#error ? "error" : "success",
      error: this.#error,
      failure: this.#failure,
      response: this.#response,
      denials: this.#denials,
      results: this.#results,
      continuation,
      pendingApproval,
      pendingApprovals: this.#pending,
    };
  }
}
