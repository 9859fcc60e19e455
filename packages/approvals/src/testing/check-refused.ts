import type { ApprovalRecord } from "@harnesskit/protocol/hub";
import { checkRejects } from "@harnesskit/wire/testing";
import { ApprovalError } from "../errors.ts";

/** Throws `contract_broken` unless it rejects with this code; returns the record that the error holds. */
export const checkRefused = async (
  call: Promise<unknown>,
  code: string,
  what: string,
): Promise<ApprovalRecord | undefined> => {
  const error = await checkRejects(call, code, what);
  return ApprovalError.isInstance(error) ? error.record : undefined;
};
