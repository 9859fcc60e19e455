import { ConformanceError } from "../errors.ts";
import { type EachStep, type Step, schemaOfVerb, verbOf } from "./step-schema.ts";

/** Throws `invalid_scenario` for the first step that does not fit its verb, with its place and member. */
export const checkSteps = (steps: readonly Step[], place: string): void => {
  for (const [index, step] of steps.entries()) {
    const verb = verbOf(step);
    const at = `${place}: step ${index + 1}`;
    if (verb === undefined) throw new ConformanceError("invalid_scenario", `${at}: has no verb`);
    if (verb === "each") checkSteps((step as EachStep).steps, at);
    const parsed = schemaOfVerb(verb).safeParse(step);
    if (parsed.success) continue;
    const [issue] = parsed.error.issues;
    throw new ConformanceError(
      "invalid_scenario",
      `${at} (${verb}): ${issue?.path.join(".")} ${issue?.message}`,
    );
  }
};
