import {
  createModel,
  type Environment,
  ModelError,
  parseModelSpec,
  toModelReference,
  toModelSpec,
} from "@harnesskit/models";
import type { ThreadConnectOptions } from "@harnesskit/thread-server";
import type { AiSdkRunnerOptions } from "@harnesskit/thread-server/ai-sdk";
import { displayText, invalidParams } from "@harnesskit/wire";
import { reading, usageError } from "../cli-error.ts";

const exampleModel = "anthropic:claude-sonnet-4-5";
const exampleKey = "ANTHROPIC_API_KEY";

/** A command that uses a language model in place of the offline planner. */
export const languageModelCommand = (command = "run", argument = ' "describe this repository"'): string =>
  `${exampleKey}=KEY harness ${command} --model ${exampleModel}${argument}`;

/** What the offline planner says about how to use a language model. */
export const languageModelHint = (command?: string, argument?: string): string =>
  `For anything else use a language model: ${languageModelCommand(command, argument)}`;

/** Checks a model of the command line and returns it. Throws a usage error for one that cannot be a model. */
export const checkedModel = (spec: string, option = "--model"): string => {
  reading(option, () => parseModelSpec(spec));
  return spec;
};

const contextVariable = "HARNESS_CONTEXT_TOKENS";

/**
 * The tokens of the context of every model, from `HARNESS_CONTEXT_TOKENS`; nothing where the variable is not set. For a server that cuts what is too long without a word, such as Ollama. Throws a usage error for anything but a number.
 */
export const contextOf = (env: Environment): Pick<AiSdkRunnerOptions, "contextWindows"> => {
  const text = env[contextVariable]?.trim();
  if (text === undefined || text === "") return {};
  if (!/^[1-9]\d{2,8}$/.test(text)) {
    const found = displayText(JSON.stringify(text), { maxLength: 100 });
    throw usageError(
      `${contextVariable} must be the tokens of the model's context, such as 8192, got ${found}`,
    );
  }
  return { contextWindows: { "": Number(text) } };
};

export interface ModelChooserOptions {
  readonly defaultModel: string;
  readonly env: Environment;
}

/** Makes a model's error -32602 with its code as the reason; any other error is returned as it is. */
const toModelRefusal = (error: unknown): unknown =>
  ModelError.isInstance(error) ? invalidParams(error.message, { reason: error.code }) : error;

/**
 * Chooses the model of a turn. One that is unknown, or whose key is missing, is -32602 with the reason
 * (`model.unknown`, `model.missing_key`, `model.missing_package`) in `data`.
 */
export const createModelChooser = ({ defaultModel, env }: ModelChooserOptions) => {
  return (async (ref) => {
    try {
      const spec = ref === undefined ? defaultModel : toModelSpec(ref);
      return await createModel(spec, { env, languageModelHint: languageModelHint() });
    } catch (error) {
      throw toModelRefusal(error);
    }
  }) satisfies AiSdkRunnerOptions["model"];
};

const normalised = (spec: string): string => toModelSpec(toModelReference(spec));

/**
 * Lets a client choose among these models only: any other is -32602 with the reason (`model.not_allowed`, or
 * `model.unknown`) and those that may be chosen in `data`. A model says where keys and the content of files are sent, so
 * not every client may name a new place. Throws a `ModelError` for a spec that cannot be a model.
 */
export const createModelLimit = (specs: readonly string[]): Required<ThreadConnectOptions> => {
  const models = [...new Set(specs.map(normalised))];
  return {
    checkModel: (ref) => {
      let spec: string;
      try {
        spec = toModelSpec(ref);
      } catch (error) {
        throw toModelRefusal(error);
      }
      if (models.includes(spec)) return;
      const choices = displayText(models.join(", "), { maxLength: 500 });
      throw invalidParams(`This client may not choose that model, only: ${choices}`, {
        reason: "model.not_allowed",
        models,
      });
    },
  };
};
