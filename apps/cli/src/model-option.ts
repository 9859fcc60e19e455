import { ModelError, parseModelSpec } from "@harnesskit/models";
import { usageError } from "./cli-error.ts";

/** Checks a model of the command line and returns it. Throws a usage error for one that cannot be a model. */
export const checkedModel = (spec: string, option = "--model"): string => {
  try {
    parseModelSpec(spec);
    return spec;
  } catch (error) {
    if (ModelError.isInstance(error)) throw usageError(`${option}: ${error.message}`);
    throw error;
  }
};
