import type { ApprovalQuestion, ApprovalRecord } from "@harnesskit/protocol/hub";
import { checkRejects } from "@harnesskit/wire/testing";
import { ApprovalError } from "../errors.ts";

/** A question about a shell command. */
export const sampleQuestion = (
  change: {
    readonly origin?: Partial<ApprovalQuestion["origin"]>;
    readonly subject?: Partial<ApprovalQuestion["subject"]>;
  } & Partial<Omit<ApprovalQuestion, "origin" | "subject">> = {},
): ApprovalQuestion => ({
  ...change,
  origin: { agent: "agent", session: "s1", callId: "c1", ...change.origin },
  subject: { tool: "bash", input: { command: "npm test" }, ...change.subject },
  rule: change.rule ?? { id: "shell", reason: "it runs a command" },
});

/** The event of an answer that approves the record. */
export const approveBy = ({ digest }: ApprovalRecord, by = "ada") =>
  ({ type: "answer", decision: "approve", by, digest }) as const;

/** The event of a claim. */
export const takeBy = ({ digest }: ApprovalRecord, claimant = "hook-1") =>
  ({ type: "take", claimant, digest }) as const;

/** Throws `contract_broken` unless it rejects with this code; returns the record that the error holds. */
export const checkRefused = async (
  call: Promise<unknown>,
  code: string,
  what: string,
): Promise<ApprovalRecord | undefined> => {
  const error = await checkRejects(call, code, what);
  return ApprovalError.isInstance(error) ? error.record : undefined;
};
