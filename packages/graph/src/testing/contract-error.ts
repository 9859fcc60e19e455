import { HarnessError } from "@harnesskit/wire";

/** What was tested breaks its contract; the message says which part. */
export class ContractError extends HarnessError {
  override readonly name = "ContractError";
  constructor(message: string, options?: { cause?: unknown }) {
    super("contract_broken", message, options);
  }
}

/** Throws `contract_broken` unless the condition holds. */
export function demand(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new ContractError(otherwise);
}

const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
};

/** The value with the keys of its objects in order, so that the text of equal JSON is equal. */
const ordered = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, item]) => [key, ordered(item)]),
  );
};

/** Throws `contract_broken` unless both are the same JSON, whatever the order of keys. */
export const demandSame = (actual: unknown, expected: unknown, what: string): void => {
  const [one, other] = [actual, expected].map((value) =>
    JSON.stringify(ordered(JSON.parse(JSON.stringify(value ?? null)))),
  );
  if (one !== other) throw new ContractError(`${what}: expected ${show(expected)}, got ${show(actual)}`);
};

/** Waits for a rejection with this code; throws `contract_broken` for any other outcome. */
export const demandRejection = async (
  promise: Promise<unknown>,
  code: string,
  what: string,
): Promise<void> => {
  let error: unknown;
  try {
    await promise;
  } catch (thrown) {
    error = thrown;
  }
  if (error === undefined) throw new ContractError(`${what}: expected ${code}, but it succeeded`);
  if (!HarnessError.isInstance(error) || error.code !== code) {
    const got = HarnessError.isInstance(error) ? error.code : "an error of another kind";
    throw new ContractError(`${what}: expected ${code}, got ${got}`, { cause: error });
  }
};
