import type { JsonObject } from "@harnesskit/protocol/envelope";
import { ActionDirectiveSchema, ContinuationSchema } from "@harnesskit/protocol/openharness";
import { digestOf } from "./ask-user.ts";
import { copyJson } from "./copy-json.ts";
import type { ResolvedLimits } from "./limits.ts";
import { ShellClientError } from "./shell-client-error.ts";
import type { PendingApproval } from "./shell-outcome.ts";

/**
 * Reads a pending approval that may come out of a store. Rejects with `invalid_request` for what is none, and with
 * `approval_mismatch` where the digest is not of the directive: then what was shown may not be what would be answered.
 */
export const readPending = async (given: unknown, limits: ResolvedLimits): Promise<PendingApproval> => {
  const none = (cause?: unknown) =>
    new ShellClientError("invalid_request", "this is no pending approval", { reason: "schema", cause });
  const copyLimits = { maxLength: limits.maxResponseLength, maxDepth: limits.maxDepth };
  const copy = copyJson<JsonObject>(given, copyLimits, (_problem, cause) => none(cause));
  const { directive, continuation, digest } = typeof copy === "object" && copy !== null ? copy : {};
  const read = ActionDirectiveSchema.safeParse(directive);
  const next = ContinuationSchema.safeParse(continuation);
  if (!read.success || !next.success || typeof digest !== "string") throw none();
  const actual = await digestOf(read.data).catch((cause: unknown) => {
    throw none(cause);
  });
  if (actual === digest) return { directive: read.data, digest, continuation: next.data };
  throw new ShellClientError(
    "approval_mismatch",
    "the digest of the pending approval is not of its directive",
  );
};
