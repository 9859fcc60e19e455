import { expect } from "vitest";
import type { SendOutcome } from "../../src/index.ts";
import { textOf } from "./graphs.ts";

/** The texts of an outcome's messages: replies, or pending ones. Fails the test for one that errored. */
export const texts = (outcome: SendOutcome | undefined): string[] => {
  if (outcome?.outcome === "completed") return outcome.replies.map(textOf);
  if (outcome?.outcome === "suspended") return outcome.pending_messages.map(textOf);
  return expect.fail(`the turn errored: ${JSON.stringify(outcome)}`);
};
