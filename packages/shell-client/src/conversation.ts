import {
  type CapabilityDenial,
  type Continuation,
  type ShellError,
  ShellErrorCode,
  type ShellResponse,
} from "@harnesskit/protocol/openharness";
import { Lane } from "@harnesskit/wire/rpc";
import { type Answer, intentOf } from "./ask-user.ts";
import { buildRequest, headersOf, type Trace } from "./build-request.ts";
import type { ClientParts } from "./client-parts.ts";
import type { SendableRequest } from "./engine.ts";
import { type Posted, postRequest } from "./post-request.ts";
import { ResponseWork } from "./response-work.ts";
import { isContinuationKept } from "./session-state.ts";
import { givenUp, type ShellClientError, toClientError } from "./shell-client-error.ts";
import type { DirectiveResult, PendingApproval, ShellOutcome } from "./shell-outcome.ts";

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

/** One call: a request, what comes of it, and the answers to the questions in it. */
export class Conversation {
  readonly #parts: ClientParts;
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
    this.#trace = trace;
    this.#signal = signal;
  }

  /** Never rejects. */
  async run(opening: Opening): Promise<ShellOutcome> {
    await this.#exchange(opening);
    const { limits, diagnose } = this.#parts;
    const signal = this.#signal;
    let sent = 0;
    for (let next = this.#answers.shift(); next; next = this.#answers.shift()) {
      if (sent++ >= limits.maxFollowUps || signal.aborted) {
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
    return {
      status: this.#error ? "error" : "success",
      error: this.#error,
      failure: this.#failure,
      response: this.#response,
      denials: this.#denials,
      results: this.#results,
      pendingApprovals: this.#pending,
    };
  }

  /** An answer as a request; in words where the engine gave nothing to answer its question with. */
  #toRequest({ pending, answer }: Answered): SendableRequest {
    const trace = this.#trace;
    if (pending === undefined) return buildRequest(this.#parts, { ask: { intent: intentOf(answer) }, trace });
    const { digest, continuation } = pending;
    return buildRequest(this.#parts, { ask: {}, trace, continuation, approval: { ...answer, digest } });
  }

  async #exchange({ request, taken, answers }: Opening): Promise<void> {
    const requestId = request.request_id;
    const headers = headersOf(requestId, this.#trace);
    let posted: Posted | undefined;
    try {
      posted = await postRequest(request, headers, this.#signal, this.#parts);
    } catch (error) {
      this.#fail(toClientError(error, request));
    }
    const response = posted?.response;
    this.#response = response;
    // What the request showed is good again where it was not used.
    const isKept = isContinuationKept(response);
    const isMismatch = response?.response.error?.code === ShellErrorCode.ApprovalMismatch;
    if (isKept || isMismatch) this.#keep(answers);
    if (taken && isKept) this.#parts.session.putBack(taken);
    if (!posted || !response) return;
    const { capability_denials: denials = [] } = response;
    this.#denials.push(...denials);
    if (denials.length > 0) this.#parts.onDenials(denials);
    if (response.response.status === "error") this.#failed(requestId, response);
    else await this.#deliver(requestId, posted);
  }

  #keep(pending: PendingApproval | undefined): void {
    if (pending) this.#pending.push(pending);
  }

  async #deliver(requestId: string, posted: Posted): Promise<void> {
    this.#parts.session.follow(posted.response);
    const work = new ResponseWork(this.#parts, requestId, posted, this.#signal, this.#questions);
    for (const { result, pending, answer } of await work.run()) {
      this.#results.push(result);
      if (answer) this.#answers.push({ pending, answer });
      else this.#keep(pending);
    }
  }

  /** Nothing is carried out of a response that says that the request failed. */
  #failed(requestId: string, { response }: ShellResponse): void {
    this.#error ??= response.error ?? { code: ShellErrorCode.InternalError, retryable: false };
    const directives = response.action_directives ?? [];
    if (directives.length === 0) return;
    const error = { code: "engine_error" as const, message: "it came with an error" };
    this.#parts.diagnose({ code: "directives_with_error", message: error.message, requestId });
    for (const [index, directive] of directives.entries()) {
      const result: DirectiveResult = { directive, index, requestId, outcome: "not_reached", error };
      this.#results.push(result);
      this.#parts.onResult(result);
    }
  }

  #fail(failure: ShellClientError): void {
    const { code, message, retryable } = failure;
    this.#failure ??= failure;
    this.#error ??= { code, message, retryable };
  }
}
