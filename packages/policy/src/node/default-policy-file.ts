import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const packageFile = createRequire(import.meta.url).resolve("@harnesskit/policy/package.json");

/** The path of the shipped policy for coding agents: YAML, with its cases beside it in `coding-agent.test.yaml`. */
export const defaultPolicyFile: string = join(dirname(packageFile), "policies", "coding-agent.yaml");
