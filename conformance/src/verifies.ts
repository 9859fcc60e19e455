import { TestRunner } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Ids of the requirements that the test proves, in the order in which it claimed them. */
    verifies?: string[];
  }
}

/** What was wrong with a call of {@link verifies}. */
export type ClaimErrorCode = "no_running_test" | "concurrent_test" | "no_ids" | "malformed_id";

/** A claim that cannot be recorded. */
export class ClaimError extends Error {
  readonly code: ClaimErrorCode;

  constructor(code: ClaimErrorCode, message: string) {
    super(message);
    this.name = "ClaimError";
    this.code = code;
  }
}

const idPattern = /^[A-Z][A-Z0-9]*-[A-Za-z0-9.]+$/;

/**
 * Records that the running test proves these requirements (`conformance/requirements/*.yaml`).
 *
 * Called inside a test body, before or after an `await`. The claim counts only if the test passes. A test that
 * vitest runs beside others of its file (`it.concurrent`) cannot claim anything, because the runner knows only
 * one current test per file.
 *
 * @param ids Requirement ids such as `THR-12`, at least one. Claiming an id twice in one test is the same as once.
 * @throws {ClaimError} `no_running_test` outside a test, `concurrent_test` inside a concurrent one, `no_ids`
 *   without an id, `malformed_id` for an id that no requirement file could hold.
 */
export function verifies(...ids: string[]): void {
  const test = TestRunner.getCurrentTest();
  if (test === undefined) {
    throw new ClaimError("no_running_test", "verifies() is called inside a running test, not beside it");
  }
  if (test.concurrent === true) {
    throw new ClaimError("concurrent_test", `verifies() cannot tell concurrent tests apart: ${test.name}`);
  }
  if (ids.length === 0) throw new ClaimError("no_ids", "verifies() takes at least one requirement id");
  const claimed = new Set(test.meta.verifies);
  for (const id of ids) {
    if (!idPattern.test(id))
      throw new ClaimError("malformed_id", `not a requirement id: ${JSON.stringify(id)}`);
    claimed.add(id);
  }
  test.meta.verifies = [...claimed];
}
