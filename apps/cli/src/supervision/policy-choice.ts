import { resolve } from "node:path";
import type { AccessOptions } from "../ahp/credentials.ts";
import { usageError } from "../cli-error.ts";

/** The command line's words about who judges. */
export interface PolicyOptions {
  /** A policy's file; false for `--no-policy`. @default the default policy */
  readonly policy?: string | false;
  /** The endpoint of a harness that runs, or is started by it. */
  readonly ahp?: string;
  readonly ahpTokenFile?: string;
  readonly ahpApiKeyFile?: string;
  readonly ahpCredentialsInQuery?: true;
  /** How long a decision may take, in seconds. @default 10 */
  readonly policyTimeout?: number;
}

/** Who judges what the agent wants to do. */
export type PolicyChoice =
  /** A child of ours, with the policy that ships or one of the user's. */
  | { readonly kind: "child"; readonly policy: string }
  /** A harness of the user's. */
  | ({ readonly kind: "endpoint"; readonly endpoint: string } & AccessOptions)
  /** Nobody but the user, who is asked about what writes or executes. */
  | { readonly kind: "none" };

/** What the default policy calls itself. */
export const defaultPolicyName = "coding-agent";

/** Reads the options. Throws a usage error for those that contradict each other. */
export const toPolicyChoice = (options: PolicyOptions): PolicyChoice => {
  const { policy, ahp, policyTimeout } = options;
  if (policyTimeout !== undefined && (policyTimeout < 0.1 || policyTimeout > 600)) {
    throw usageError("--policy-timeout takes 0.1 to 600 seconds");
  }
  if (ahp !== undefined && policy !== undefined) {
    throw usageError("--ahp cannot be used with --policy or --no-policy", "Say who judges: one of them");
  }
  if (ahp !== undefined) {
    return {
      kind: "endpoint",
      endpoint: ahp,
      tokenFile: options.ahpTokenFile,
      apiKeyFile: options.ahpApiKeyFile,
      credentialsInQuery: options.ahpCredentialsInQuery,
    };
  }
  for (const [option, value] of accessOptions(options)) {
    if (value !== undefined)
      throw usageError(`${option} is about the harness of --ahp`, "Name it: --ahp http://…");
  }
  if (policy === false) return { kind: "none" };
  if (policy === undefined) return { kind: "child", policy: "default" };
  if (policy === "") throw usageError("--policy: the name of the file is empty");
  return { kind: "child", policy: resolve(policy) };
};

const accessOptions = ({ ahpTokenFile, ahpApiKeyFile, ahpCredentialsInQuery }: PolicyOptions) =>
  [
    ["--ahp-token-file", ahpTokenFile],
    ["--ahp-api-key-file", ahpApiKeyFile],
    ["--ahp-credentials-in-query", ahpCredentialsInQuery],
  ] as const;

/** The arguments that make `harness serve` choose the same. */
export const toPolicyArgs = ({ policy, ahp, policyTimeout, ...options }: PolicyOptions): string[] => [
  ...(policy === false ? ["--no-policy"] : policy === undefined ? [] : ["--policy", resolve(policy)]),
  ...(ahp === undefined ? [] : ["--ahp", ahp]),
  ...accessOptions(options).flatMap(([option, value]) =>
    value === undefined ? [] : value === true ? [option] : [option, resolve(value)],
  ),
  ...(policyTimeout === undefined ? [] : ["--policy-timeout", String(policyTimeout)]),
];

/** What is said where nobody judges. */
export const noPolicyText =
  "NO POLICY is in force (--no-policy): only you are asked, before what writes or executes";
