import { ModelError, parseModelSpec } from "@harnesskit/models";
import { usageError } from "./cli-error.ts";

/** Checks a `--model` and returns it. Throws a usage error for one that cannot be a model. */
export const checkedModel = (spec: string): string => {
  try {
    parseModelSpec(spec);
    return spec;
  } catch (error) {
    if (ModelError.isInstance(error)) throw usageError(`--model: ${error.message}`);
    throw error;
  }
};
