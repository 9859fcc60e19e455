import { toModelReference, toModelSpec } from "@harnesskit/models";
import type { ConnectOptions } from "@harnesskit/thread-server";
import { displayText, invalidParams } from "@harnesskit/wire";
import { toModelRefusal } from "./model-chooser.ts";

/** The same spec in its one spelling. */
const normalised = (spec: string): string => toModelSpec(toModelReference(spec));

/**
 * Lets a client choose among these models only: any other is -32602 with the reason (`model.not_allowed`, or
 * `model.unknown`) and those that may be chosen in `data`. A model says where keys and the content of files are sent, so
 * not every client may name a new place. Throws a `ModelError` for a spec that cannot be a model.
 */
export const createModelLimit = (specs: readonly string[]): Required<ConnectOptions> => {
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
