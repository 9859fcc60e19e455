import type { AccessOptions } from "../ahp/token.ts";
import { usageError } from "../cli-error.ts";
import { fromHere } from "../io.ts";

/** The options that choose the policy. */
export interface PolicyOptions {
  /** A policy's file; false for `--no-policy`. @default the default policy */
  readonly policy?: string | false;
  /** The state's directory of a hub; false for `--no-hub`. @default the user's hub, if it runs */
  readonly hub?: string | false;
  readonly ahp?: string;
  readonly ahpTokenFile?: string;
  readonly ahpApiKeyFile?: string;
  readonly ahpCredentialsInQuery?: true;
  /** How long a decision may take, in seconds. @default 10 */
  readonly policyTimeout?: number;
}

/** What judges the agent's actions. */
export type PolicyChoice =
  /** A policy file, judged by in this process. @default the shipped one */
  | { readonly kind: "file"; readonly file: string | undefined }
  | ({ readonly kind: "endpoint"; readonly endpoint: string } & AccessOptions)
  /** A hub that must run, by the directory of its state; undefined for the user's, if it runs. */
  | { readonly kind: "hub"; readonly state: string | undefined }
  | { readonly kind: "none" };

/** Reads the options. Throws a usage error for those that contradict each other. */
export const toPolicyChoice = (options: PolicyOptions): PolicyChoice => {
  const { policy, hub, ahp, policyTimeout } = options;
  if (policyTimeout !== undefined && (policyTimeout < 0.1 || policyTimeout > 600)) {
    throw usageError("--policy-timeout takes 0.1 to 600 seconds");
  }
  if (typeof hub === "string" && (policy !== undefined || ahp !== undefined)) {
    throw usageError("--hub cannot be used with --policy, --no-policy or --ahp", "Choose one of them");
  }
  if (ahp !== undefined && policy !== undefined) {
    throw usageError("--ahp cannot be used with --policy or --no-policy", "Choose one of them");
  }
  if (ahp !== undefined) {
    return {
      kind: "endpoint",
      endpoint: ahp,
      tokenFile: options.ahpTokenFile,
      apiKeyFile: options.ahpApiKeyFile,
      inQuery: options.ahpCredentialsInQuery,
    };
  }
  if ((options.ahpTokenFile ?? options.ahpApiKeyFile ?? options.ahpCredentialsInQuery) !== undefined)
    throw withoutHarness();
  if (policy === false) return { kind: "none" };
  if (policy === undefined) {
    return hub === false ? { kind: "file", file: undefined } : { kind: "hub", state: hub };
  }
  if (policy === "") throw usageError("--policy: the name of the file is empty");
  return { kind: "file", file: fromHere(policy) };
};

/** Credentials were named, and no harness that they are for. */
export const withoutHarness = () =>
  usageError(
    "--ahp-token-file, --ahp-api-key-file and --ahp-credentials-in-query are about the harness of --ahp",
    "Name it: --ahp http://…",
  );

/** The warning if no policy is in force. */
export const noPolicyText =
  "NO POLICY is in force (--no-policy): only you are asked, before the agent writes files or runs commands";
