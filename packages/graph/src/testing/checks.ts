import { HarnessError, jsonDifference } from "@harnesskit/wire";
import { ContractError } from "@harnesskit/wire/testing";

/** Throws `contract_broken` unless the condition holds. */
export function holds(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new ContractError(otherwise);
}

/** A value as JSON, its lists as arrays. */
export const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

/** Throws `contract_broken` unless both are the same JSON, whatever the order of keys. */
export const equal = (actual: unknown, expected: unknown, what: string): void => {
  const difference = jsonDifference(plain(expected), plain(actual));
  if (difference === undefined) return;
  const [wanted, got] = [expected, actual].map((value) => JSON.stringify(value ?? null).slice(0, 300));
  throw new ContractError(`${what}: expected ${wanted}, got ${got}, at "${difference.path}"`);
};

/** Throws `contract_broken` unless the promise rejects with this code. */
export const rejects = async (promise: Promise<unknown>, code: string, what: string): Promise<void> => {
  const got = await promise.then(
    () => "it succeeded",
    (error: unknown) => (HarnessError.isInstance(error) ? error.code : "an error of another kind"),
  );
  if (got !== code) throw new ContractError(`${what}: expected ${code}, got ${got}`);
};
