import { HarnessError } from "../errors.ts";

/** What was tested breaks its contract; the message says which part. */
export class ContractError extends HarnessError<"contract_broken"> {
  static override readonly brand = "ContractError";
  constructor(message: string, options?: { cause?: unknown }) {
    super("contract_broken", message, options);
  }
}

// Each of the following throws `contract_broken` unless what it says holds.

export function checkThat(condition: boolean, otherwise: string): asserts condition {
  if (!condition) throw new ContractError(otherwise);
}

const shorten = (value: unknown): string => (JSON.stringify(value) ?? String(value)).slice(0, 200);

/** Both are the same JSON, with the same order of keys. */
export const checkSame = (actual: unknown, expected: unknown, what: string): void =>
  checkThat(
    JSON.stringify(actual) === JSON.stringify(expected),
    `${what}: expected ${shorten(expected)}, got ${shorten(actual)}`,
  );

/** It is an error of the project with this code. */
export const checkCode = (error: unknown, code: string, what: string): void => {
  const found = HarnessError.isInstance(error) ? error.code : "no error of the project";
  if (found !== code) throw new ContractError(`${what}: expected ${code}, got ${found}`, { cause: error });
};

/** Throws `contract_broken` unless the promise rejects with this code; returns what it rejected with. */
export const checkRejects = async (
  promise: Promise<unknown>,
  code: string,
  what: string,
): Promise<unknown> => {
  const error = await promise.then(
    () => {
      throw new ContractError(`${what}: expected ${code}, but it succeeded`);
    },
    (cause: unknown) => cause,
  );
  checkCode(error, code, what);
  return error;
};

/** The promise is fulfilled in time. */
export const settled = <T>(promise: Promise<T>, what: string, timeoutMs: number): Promise<T> =>
  new Promise((resolve, reject) => {
    const late = () => reject(new ContractError(`${what}: nothing happened within ${timeoutMs} ms`));
    const timer = setTimeout(late, timeoutMs);
    const onRejected = (cause: unknown) =>
      reject(
        cause instanceof ContractError ? cause : new ContractError(`${what} failed: ${cause}`, { cause }),
      );
    promise.then(resolve, onRejected).finally(() => clearTimeout(timer));
  });

/** Lets the event loop go round, so that what is under way can happen. */
export const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise<void>((resolve) => setTimeout(resolve, 0));
};

/** A named case for any test runner. */
export interface ContractCase {
  readonly name: string;
  /** Resolves when the contract is kept; rejects with `contract_broken` when it is not. */
  run(): Promise<void>;
}

/** The cases of a contract: each one's body by its name. */
export type CaseTable<Subject> = Readonly<Record<string, (subject: Subject) => Promise<void>>>;

/** The cases of a table, each with a subject of its own. */
export const toCases = <Subject>(
  prefix: string,
  table: CaseTable<Subject>,
  withSubject: (body: (subject: Subject) => Promise<void>) => Promise<void>,
): ContractCase[] =>
  Object.entries(table).map(([name, body]) => ({
    name: `${prefix}: ${name}`,
    run: () => withSubject(body),
  }));
