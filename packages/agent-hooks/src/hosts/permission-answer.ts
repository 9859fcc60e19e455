import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { Verdict } from "../host.ts";

/** The answer to `PermissionRequest` of Claude Code and Codex in the user's place; undefined leaves the question to the user. */
export const permissionAnswer = (verdict: Verdict): JsonObject | undefined => {
  const decision =
    verdict.kind === "allow"
      ? { behavior: "allow" }
      : verdict.kind === "block"
        ? { behavior: "deny", message: verdict.reason }
        : undefined;
  return decision && { hookSpecificOutput: { hookEventName: "PermissionRequest", decision } };
};
