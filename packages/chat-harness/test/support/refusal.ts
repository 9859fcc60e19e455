import type { ErroredTurn } from "@harnesskit/protocol/chat";
import { expect } from "vitest";
import { ChatHarnessError } from "../../src/index.ts";

/** What a call rejects with; fails the test where it does not, or with something else. */
export const refusal = async (call: Promise<unknown>): Promise<ChatHarnessError> => {
  const error = await call.then(
    (value) => expect.fail(`it gave ${JSON.stringify(value)}`),
    (thrown: unknown) => thrown,
  );
  expect(ChatHarnessError.isInstance(error), String(error)).toBe(true);
  return error as ChatHarnessError;
};

/** The category and the bucket of an errored outcome; fails the test for another one. */
export const failed = (outcome: { readonly outcome: string }): string => {
  expect(outcome.outcome, JSON.stringify(outcome)).toBe("errored");
  const { error_category: category, error_bucket: bucket, reply } = outcome as ErroredTurn;
  expect(reply).toMatchObject({ role: "system", content: expect.stringMatching(/./) });
  return `${category} ${bucket}`;
};
