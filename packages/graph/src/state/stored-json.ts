import { jsonProblem, maxMessageDepth } from "@harnesskit/wire/json";
import { GraphError, type GraphErrorCode } from "../errors.ts";

/** Throws an error with this code unless the value of a field is JSON. */
export const demandJson = (field: string, value: unknown, code: GraphErrorCode): void => {
  const problem = jsonProblem(value, { name: field, maxDepth: maxMessageDepth });
  if (problem === undefined) return;
  throw new GraphError(code, `the state cannot be stored: ${problem.message}`, { fields: [field] });
};

/** The JSON of a stored value as a copy. */
export const plainCopy = <T>(value: unknown): T => JSON.parse(JSON.stringify(value)) as T;
