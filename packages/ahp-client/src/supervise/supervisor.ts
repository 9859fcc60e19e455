import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { randomId } from "@harnesskit/wire";
import { allowCall } from "./allow-call.ts";
import { type ConfirmRequest, confirm } from "./confirm.ts";
import { allowModelCall, type ModelRequest } from "./model-request.ts";
import { isIterator, reportedIterator } from "./reported-iterator.ts";
import { Supervision } from "./supervision.ts";
import { SupervisionError } from "./supervision-error.ts";
import type { EscalationAnswer, SupervisingClient, SupervisionOptions } from "./supervision-options.ts";
import { validateWith } from "./validation.ts";

/** One call of a tool. */
export interface ToolRun<T> {
  readonly name: string;
  /** The call's id, where the framework has one. @default random */
  readonly callId?: string;
  /** JSON, except for Dates. */
  readonly input: unknown;
  /** A Standard Schema (zod, Valibot …) or a JSON Schema: arguments that the harness changes are read with it. @default they are taken as they are */
  readonly schema?: object | undefined;
  /** Whether a person must approve these arguments. @default no */
  readonly needsApproval?: boolean | ((input: unknown) => boolean | PromiseLike<boolean>);
  readonly signal?: AbortSignal | undefined;
  /** Runs the tool with what was judged. */
  readonly run: (input: unknown) => T | PromiseLike<T>;
}

/** One request of a model. */
export interface ModelRun<T> extends ModelRequest {
  /** Sends what was judged: `messages`, or what the harness wants in their place. */
  readonly call: (messages: readonly JsonValue[]) => T | PromiseLike<T>;
  /** What is reported of the answer. @default nothing but its outcome and duration */
  readonly summarise?: (answer: T) => JsonObject;
}

/** A question to a person. */
export interface Question {
  /** What would happen, whole. */
  readonly message: string;
  /** Why it is asked. */
  readonly reason: string;
  readonly toolName?: string;
  readonly signal?: AbortSignal | undefined;
}

/** Puts any agent's calls under a harness. */
export interface Supervisor {
  /**
   * Runs a tool only if the harness allows it, with the arguments that were judged (AHP 2.4, `pre_action`), and reports how it went
   * (`post_action`). Rejects with a `SupervisionError` where it does not run, and with what the tool rejects with. A generator that the tool
   * returns is one output; it runs as it is read, so it is reported when it ends.
   */
  runTool<T>(call: ToolRun<T>): Promise<T>;
  /**
   * Calls a model only if the harness allows it, with the messages that were judged (`pre_prompt`), and reports the answer
   * (`post_response`). Rejects with a `SupervisionError` where it is not called, and with what `call` rejects with.
   */
  callModel<T>(call: ModelRun<T>): Promise<T>;
  /**
   * Asks a person, by `onEscalate` or by the harness (`confirmation`). Resolves with their answer; rejects with a `SupervisionError` where
   * there is none.
   */
  ask(question: Question): Promise<EscalationAnswer>;
}

/**
 * Makes a supervisor for a loop of your own: it asks the harness of `client` before each call of a model or a tool, and reports what came
 * of it. Throws `invalid_argument` for invalid options.
 */
export const createSupervisor = (client: SupervisingClient, options: SupervisionOptions = {}): Supervisor => {
  const supervision = new Supervision(client, options);
  return {
    async runTool<T>(call: ToolRun<T>): Promise<T> {
      const { name, callId = randomId("call"), input, schema, needsApproval: needs, signal, run } = call;
      const allowed = await allowCall(supervision, {
        ...{ toolName: name, toolCallId: callId, input, signal },
        validate: schema === undefined ? async (value) => ({ value }) : validateWith(schema),
        needsApproval: typeof needs === "function" ? needs : needs === true ? () => true : undefined,
      });
      let output: T;
      try {
        output = await run(allowed.input);
      } catch (error) {
        allowed.failed(error);
        throw error;
      }
      if (isIterator(output)) return reportedIterator(output, allowed);
      allowed.succeeded(output);
      return output;
    },
    async callModel<T>(given: ModelRun<T>): Promise<T> {
      const { messages, report } = await allowModelCall(supervision, given);
      try {
        const answer = await given.call(messages);
        report({ outcome: "success", fields: given.summarise?.(answer) ?? {} });
        return answer;
      } catch (error) {
        report({ outcome: given.signal?.aborted ? "cancelled" : "error", error });
        throw error;
      }
    },
    async ask({ message, reason, toolName, signal }) {
      const request: ConfirmRequest = {
        eventType: "pre_action",
        confirmationType: "user_confirm",
        reason,
        message,
        payload: {},
        toolName,
      };
      try {
        await confirm(supervision, request, signal);
        return { approved: true };
      } catch (error) {
        if (SupervisionError.isInstance(error) && error.code === "refused")
          return { approved: false, reason: error.reason };
        throw error;
      }
    },
  };
};
