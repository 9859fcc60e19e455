import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { checkModelRun, checkToolRun } from "../option-names.ts";
import { confirm } from "./confirm.ts";
import { allowModelCall, type ModelRequest } from "./model-request.ts";
import { runTool, type ToolRun } from "./run-tool.ts";
import { Supervision } from "./supervision.ts";
import { SupervisionError } from "./supervision-error.ts";
import type { EscalationAnswer, SupervisingClient, SupervisionOptions } from "./supervision-options.ts";

/** One request of a model. */
export interface ModelRun<T> extends ModelRequest {
  /** Sends what was judged: `messages`, or what the harness wants in their place. */
  readonly call: (messages: readonly JsonValue[]) => T | PromiseLike<T>;
  /** What is reported of the answer. @default nothing but its outcome and duration */
  readonly summarise?: ((answer: T) => JsonObject) | undefined;
}

/** A question to a person. */
export interface Question {
  /** What would happen, whole. */
  readonly message: string;
  /** Why it is asked. */
  readonly reason: string;
  readonly toolName?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Puts any agent's calls under a harness. */
export interface Supervisor {
  /**
   * Runs a tool only if the harness allows it, with the arguments that were judged (AHP 2.4, `pre_action`), and reports how it went
   * (`post_action`). Rejects with a `SupervisionError` where it does not run, and with what the tool rejects with. An async generator that
   * the tool returns is one output; it runs as it is read, so it is reported when it ends. Rejects with `invalid_argument` for a field
   * that it does not know.
   */
  runTool<T>(call: ToolRun<T>): Promise<T>;
  /**
   * Calls a model only if the harness allows it, with the messages that were judged (`pre_prompt`), and reports the answer
   * (`post_response`). Rejects with a `SupervisionError` where it is not called, with what `call` rejects with, and with
   * `invalid_argument` for a field that it does not know.
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
    runTool: async (call) => runTool(supervision, checkToolRun(call)),
    async callModel(given) {
      const { messages, report } = await allowModelCall(supervision, checkModelRun(given));
      try {
        const answer = await given.call(messages);
        report("success", given.summarise?.(answer));
        return answer;
      } catch (error) {
        report(given.signal?.aborted ? "cancelled" : "error", {}, error);
        throw error;
      }
    },
    async ask({ signal, ...question }) {
      const kind = { eventType: "pre_action", confirmationType: "user_confirm" } as const;
      try {
        await confirm(supervision, { ...kind, ...question, payload: {} }, signal);
        return { approved: true };
      } catch (error) {
        if (!SupervisionError.isInstance(error) || error.code !== "refused") throw error;
        return { approved: false, reason: error.reason };
      }
    },
  };
};
