import type { ChatTurnOutcome } from "@harnesskit/protocol/chat";
import { expect } from "vitest";
import { textOf } from "./graphs.ts";

/** The texts of an outcome's messages: replies, or pending ones. Fails the test for one that errored. */
export const texts = (outcome: ChatTurnOutcome | undefined): string[] => {
  if (outcome?.outcome === "completed") return outcome.replies.map(textOf);
  if (outcome?.outcome === "suspended") return outcome.pending_messages.map(textOf);
  return expect.fail(`the turn errored: ${JSON.stringify(outcome)}`);
};
