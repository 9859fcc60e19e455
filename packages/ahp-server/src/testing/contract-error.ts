import { HarnessError, jsonDifference } from "@harnesskit/wire";

/** What was tested breaks its contract; the message says which part. */
export class ContractError extends HarnessError {
  override readonly name = "ContractError";

  constructor(message: string, options?: { cause?: unknown }) {
    super("contract_broken", message, options);
  }
}

/** Throws `contract_broken` unless both are the same JSON. */
export const expectSame = (actual: unknown, expected: unknown, what: string): void => {
  const difference = jsonDifference(expected, actual);
  if (difference) throw new ContractError(`${what}: ${difference.path || "all of it"} is ${difference.kind}`);
};

/** Throws `contract_broken` unless the condition holds. */
export function expectThat(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new ContractError(otherwise);
}
