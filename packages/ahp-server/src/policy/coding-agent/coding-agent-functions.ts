import type { PolicyFunction } from "../cel/policy-function.ts";
import { commandFunction } from "./command-function.ts";
import { filesFunction } from "./files-function.ts";
import { redactFunction, secretsFunction } from "./secret-functions.ts";

export interface CodingAgentOptions {
  /** Absolute path of the agent's home folder; without it, `~` is outside the workspace. @default undefined */
  readonly home?: string;
}

/**
 * The functions of the shipped policy for coding agents:
 * - `command(args)` judges the shell command in a tool's `command` (and `cwd`): `verdict` (`read`, `write`, `unknown`,
 *   `exfiltration`, `privilege` or `destructive`), `why`, `codes`, `programs`, `outside`, `secret`, `network`;
 * - `files(args)` says where a tool's `path` leads, and the pattern of glob and the include of grep: `outside`, `secret`,
 *   `unknown`, `why`;
 * - `secrets(value)` counts what has the shape of a secret in any JSON: `found`, `kinds`;
 * - `redact(value)` is the value without these secrets.
 *
 * Lists of the policy named `read_programs`, `write_programs`, `secret_paths` and `allowed_paths` say more of programs and
 * folders. `loadPolicy` gives these functions to every policy.
 */
export const codingAgentFunctions = (options: CodingAgentOptions = {}): readonly PolicyFunction[] => [
  commandFunction(options),
  filesFunction(options),
  secretsFunction,
  redactFunction,
];
