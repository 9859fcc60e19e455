import { realpath, stat } from "node:fs/promises";
import { writeFileAtomic } from "@harnesskit/node-kit";
import { parsePolicyLike } from "../parse-policy.ts";
import type { Policy } from "../policy.ts";
import { PolicyError } from "../policy-error.ts";
import { readPolicyText } from "./load-policy.ts";

/**
 * Replaces the text of a policy's file in one step; `watchPolicy` puts it in force. Rejects with a `PolicyError`: the codes of
 * `parsePolicy` if `text` is not a valid policy, and `policy_changed` if the file no longer has the text `was`, so that no other change
 * is overwritten.
 */
export const savePolicy = async (
  policy: Policy,
  { text, was }: { readonly text: string; readonly was: string },
): Promise<void> => {
  parsePolicyLike(policy, text);
  const { file } = policy;
  if ((await readPolicyText(file, undefined)) !== was) {
    const message = "the file was changed meanwhile: load it again";
    throw new PolicyError("policy_changed", file, [{ message, path: "", line: 1, column: 1 }]);
  }
  const place = await realpath(file);
  await writeFileAtomic(place, text, undefined, (await stat(place)).mode & 0o777);
};
