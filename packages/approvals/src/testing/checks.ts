import { HarnessError, jsonDifference } from "@harnesskit/wire";
import { ContractError } from "@harnesskit/wire/testing";
import { ApprovalError } from "../errors.ts";
import type { ApprovalRecord } from "../record.ts";

/** Throws `contract_broken` unless both are the same JSON, whatever the order of keys. */
export const equal = (actual: unknown, expected: unknown, what: string): void => {
  const difference = jsonDifference(expected ?? null, actual ?? null);
  if (difference === undefined) return;
  const [wanted, got] = [expected, actual].map((value) => JSON.stringify(value ?? null).slice(0, 300));
  throw new ContractError(`${what}: expected ${wanted}, got ${got}, at "${difference.path}"`);
};

/** Throws `contract_broken` unless it rejects with this code; returns the record that the error holds. */
export const refused = async (
  call: Promise<unknown>,
  code: string,
  what: string,
): Promise<ApprovalRecord | undefined> => {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  equal(HarnessError.isInstance(error) ? error.code : "it succeeded", code, what);
  return ApprovalError.isInstance(error) ? error.record : undefined;
};
