import { HarnessError } from "@harnesskit/wire";
import { workspaceAgentId } from "@harnesskit/workspace-agent/declarations";
import { CliError } from "../cli-error.ts";
import type { PolicyChoice } from "./policy-choice.ts";
import type { PolicyProcess } from "./policy-process.ts";
import { createSupervision, type Supervision } from "./supervision.ts";

export interface OpenSupervisionOptions {
  readonly choice: Exclude<PolicyChoice, { kind: "none" }>;
  /** The policy's process, where it is a child of ours. */
  readonly process: PolicyProcess | undefined;
  /** The name of the policy, where it is known. */
  readonly policyName: string | undefined;
  readonly version: string;
  readonly timeoutMs: number | undefined;
  /** Told in one safe line what becomes of the harness. */
  readonly note: (line: string) => void;
}

/** The supervision that was chosen; its harness starts while the rest is loaded. Rejects with a usage error. */
export const openSupervision = async (options: OpenSupervisionOptions): Promise<Supervision> => {
  const { choice, process, policyName, version, timeoutMs, note } = options;
  const common = { version, note, policyName, toolAgent: workspaceAgentId, ...(timeoutMs && { timeoutMs }) };
  if (choice.kind === "child") {
    if (!process) throw new HarnessError("policy_missing", "the policy has no process");
    return createSupervision({
      ...common,
      endpoint: { transport: process },
      restart: () => process.restart(),
    });
  }
  const { endpoint, close } = await openNamed(choice);
  const supervision = createSupervision({ ...common, endpoint });
  return { ...supervision, close: () => supervision.close().finally(close) };
};

/** The endpoint of `--ahp`; what is wrong with it is said with the names of the options here. */
const openNamed = async ({ endpoint, ...access }: Extract<PolicyChoice, { kind: "endpoint" }>) => {
  // Loaded where it is wanted: it knows every transport.
  const [{ openEndpoint }, { readAccess }] = await Promise.all([
    import("../ahp/harness-endpoint.ts"),
    import("../ahp/credentials.ts"),
  ]);
  try {
    return openEndpoint(endpoint, await readAccess(access));
  } catch (error) {
    if (!CliError.isInstance(error)) throw error;
    const { code, message, hint, exitCode, cause } = error;
    const named = (text: string) =>
      text
        .replace(/--to\b(?!-)/g, "--ahp")
        .replace(/--(?=(?:token-file|api-key-file|credentials-in-query)\b)/g, "--ahp-");
    throw new CliError(code, named(message), {
      exitCode,
      cause,
      ...(hint !== undefined && { hint: named(hint) }),
    });
  }
};
