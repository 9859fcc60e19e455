import { HarnessError } from "@harnesskit/wire";
import { wait } from "@harnesskit/wire/time";
import { allowModelCall } from "../supervise/model-request.ts";
import type { ReportOutcome, Supervision } from "../supervise/supervision.ts";
import { SupervisionError } from "../supervise/supervision-error.ts";
import type { CallQueue } from "./call-queue.ts";
import type { CallOptions, FilePart, GenerateResult, Model, Prompt, StreamResult } from "./model-types.ts";
import { toModifiedPrompt } from "./modified-prompt.ts";
import { observeStream } from "./observed-stream.ts";
import { backOff, isRateLimit } from "./rate-limit.ts";
import { ResponseSummary } from "./response-summary.ts";
import { showPrompt } from "./shown-prompt.ts";

export interface ModelCallOptions {
  readonly supervision: Supervision;
  readonly queue: CallQueue;
  readonly model: Model;
  readonly params: CallOptions;
}

/** One request of a model: judged before each attempt, reported once. */
export class ModelCall {
  readonly #options: ModelCallOptions;
  readonly #summary: ResponseSummary;
  /** Undefined until the model is called. */
  #report: ReportOutcome | undefined;

  constructor(options: ModelCallOptions) {
    this.#options = options;
    this.#summary = new ResponseSummary(options.supervision.limits.maxReportTextBytes);
  }

  async generate(): Promise<GenerateResult> {
    const { model, params } = this.#options;
    const result = await this.#attempts((prompt) => model.doGenerate({ ...params, prompt }));
    this.#summary.addResult(result);
    this.#end(undefined, false);
    return result;
  }

  async stream(): Promise<StreamResult> {
    const { model, params } = this.#options;
    const result = await this.#attempts((prompt) => model.doStream({ ...params, prompt }));
    const stream = observeStream(result.stream, {
      part: (part) => this.#summary.add(part),
      end: ({ error, isCancelled }) => this.#end(error ?? this.#summary.error, isCancelled),
      signal: params.abortSignal,
    });
    return { ...result, stream };
  }

  async #attempts<T>(call: (prompt: Prompt) => PromiseLike<T>): Promise<T> {
    const { params } = this.#options;
    const signal = params.abortSignal;
    const held: { leave?: (() => void) | undefined } = {};
    try {
      for (let attempt = 1; ; attempt++) {
        const prompt = await this.#allowedPrompt();
        try {
          return await call(prompt);
        } catch (error) {
          if (signal?.aborted || !isRateLimit(error)) throw error;
          await this.#waitAfter(error, attempt, held);
        }
      }
    } catch (error) {
      this.#end(error, signal?.aborted ?? false);
      // The SDK knows an abort by its reason.
      signal?.throwIfAborted();
      throw error;
    } finally {
      held.leave?.();
    }
  }

  async #allowedPrompt(): Promise<Prompt> {
    const { supervision, model, params } = this.#options;
    const files: FilePart[] = [];
    const request = {
      model: model.modelId,
      provider: model.provider,
      messages: showPrompt(params.prompt, files),
      tools: params.tools?.map(({ name }) => name),
      signal: params.abortSignal,
    };
    const { wanted = params.prompt, report } = await allowModelCall(supervision, request, (messages) =>
      toModifiedPrompt(messages, files),
    );
    this.#report ??= report;
    return wanted;
  }

  /** Rejects where there is no further attempt. */
  async #waitAfter(error: Error, attempt: number, held: { leave?: (() => void) | undefined }): Promise<void> {
    const { supervision, queue, params } = this.#options;
    const signal = params.abortSignal;
    const { waitMs, isQueued } = await backOff(supervision, error, attempt, signal);
    if (isQueued && !held.leave) {
      held.leave = await queue.enter(signal).catch((cause: unknown) => {
        const reason = HarnessError.isInstance(cause) ? cause.message : "the queue failed";
        throw new SupervisionError("rate_limited", reason, { eventType: "rate_limit", cause });
      });
    }
    await wait(waitMs, supervision.clock, signal);
  }

  #end(error: unknown, isCancelled: boolean): void {
    const fields = this.#summary.toJson();
    if (isCancelled) this.#report?.({ outcome: "cancelled", fields });
    else if (error !== undefined) this.#report?.({ outcome: "error", fields, error });
    else this.#report?.({ outcome: "success", fields });
  }
}
