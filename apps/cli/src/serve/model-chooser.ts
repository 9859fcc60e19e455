import { createModel, type Environment, ModelError, toModelSpec } from "@harnesskit/models";
import type { AiSdkRunnerOptions } from "@harnesskit/thread-server/ai-sdk";
import { invalidParams } from "@harnesskit/wire";
import { languageModelHint } from "../language-model-hint.ts";

export interface ModelChooserOptions {
  /** The model of a turn that names none. */
  readonly defaultModel: string;
  /** Where keys are read from. */
  readonly env: Environment;
}

/** Makes a model's error -32602 with its code as the reason; any other is given back as it is. */
export const toModelRefusal = (error: unknown): unknown =>
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
