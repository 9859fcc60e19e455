import { join } from "node:path";
import { readOwnFile, sha256Hex } from "@harnesskit/node-kit";
import { compilePolicy } from "../compile-policy.ts";
import type { PolicyFile } from "../file/policy-schema.ts";
import type { ParsePolicyOptions } from "../parse-policy.ts";
import type { Policy } from "../policy.ts";
import { defaultPolicyFile } from "./default-policy-file.ts";
import { withOwnFiles } from "./own-files.ts";

/** The value of the shipped policy, which the build wrote, and the digest of the YAML that it was read from. */
const valueFile = join(defaultPolicyFile, "../../dist/coding-agent.json");

const readBuilt = async (): Promise<{ readonly text: string; readonly value: PolicyFile } | undefined> => {
  const limits = { maxBytes: 1_048_576, followLinks: true };
  try {
    const [yaml, json] = await Promise.all([
      readOwnFile(defaultPolicyFile, limits),
      readOwnFile(valueFile, limits),
    ]);
    const { digest, value } = JSON.parse(json.toString("utf8")) as { digest: string; value: PolicyFile };
    return digest === sha256Hex(yaml) ? { text: yaml.toString("utf8"), value } : undefined;
  } catch {
    return undefined;
  }
};

/** It was checked when the package was built and tested. */
const checked = {
  warnings: [],
  add() {},
  addInText() {},
  warn() {},
  throwIfAny() {},
};

/**
 * The shipped policy as `loadPolicy(defaultPolicyFile)` gives it, sooner: its YAML was read when the package was built, and
 * an expression is compiled when an event first needs it. Undefined where the file was changed since, or cannot be read.
 */
export const loadBuiltPolicy = async (
  options: Omit<ParsePolicyOptions, "file" | "limits"> = {},
): Promise<Policy | undefined> => {
  const built = await readBuilt();
  if (!built) return undefined;
  const source = { text: built.text, file: defaultPolicyFile, problems: checked };
  return compilePolicy(built.value, source, await withOwnFiles([defaultPolicyFile, valueFile], options));
};
