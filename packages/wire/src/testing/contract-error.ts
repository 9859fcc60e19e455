import { HarnessError } from "../errors.ts";

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
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
};

/** Throws `contract_broken` unless both are the same JSON, with the same order of keys. */
export const demandSame = (actual: unknown, expected: unknown, what: string): void => {
  if (JSON.stringify(actual) !== JSON.stringify(expected)) {
    throw new ContractError(`${what}: expected ${show(expected)}, got ${show(actual)}`);
  }
};

/** Waits for the promise; throws `contract_broken` when it is rejected or takes too long. */
export const settled = <T>(promise: Promise<T>, what: string, timeoutMs: number): Promise<T> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new ContractError(`${what}: nothing happened within ${timeoutMs} ms`)),
      timeoutMs,
    );
    const onRejected = (cause: unknown) =>
      reject(
        cause instanceof ContractError ? cause : new ContractError(`${what} failed: ${cause}`, { cause }),
      );
    promise.then(resolve, onRejected).finally(() => clearTimeout(timer));
  });

/** Waits for a rejection with this code; throws `contract_broken` for any other outcome. */
export const demandRejection = async (
  promise: Promise<unknown>,
  code: string,
  what: string,
  timeoutMs: number,
): Promise<void> => {
  const outcome = await settled(
    promise.then(
      () => ({ kept: true }) as const,
      (error: unknown) => ({ error }),
    ),
    what,
    timeoutMs,
  );
  if ("kept" in outcome) throw new ContractError(`${what}: expected ${code}, but it succeeded`);
  demandError(outcome.error, code, what);
};

/** Throws `contract_broken` unless this is an error of the project with this code. */
export const demandError = (error: unknown, code: string, what: string): void => {
  if (!HarnessError.isInstance(error)) {
    throw new ContractError(`${what}: expected ${code}, got an error of another kind`, { cause: error });
  }
  if (error.code !== code) {
    throw new ContractError(`${what}: expected ${code}, got ${error.code}`, { cause: error });
  }
};

/** Lets the event loop go round, so that what is under way can happen. */
export const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => setTimeout(resolve, 0));
};
