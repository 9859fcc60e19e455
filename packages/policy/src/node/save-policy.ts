import { realpath, stat } from "node:fs/promises";
import { writeFileAtomic } from "@harnesskit/node-kit";
import { parsePolicyLike } from "../parse-policy.ts";
import type { Policy } from "../policy.ts";
import { PolicyError } from "../policy-error.ts";
import { readPolicyText } from "./load-policy.ts";

/**
 * Writes another text into the file of a policy, at once and whole; a watch puts it in force. Rejects with a `PolicyError`: those of
 * `parsePolicy` for a text that is not a policy, `policy_changed` where the file has another text than `was`, so that nobody's change is
 * overwritten.
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
