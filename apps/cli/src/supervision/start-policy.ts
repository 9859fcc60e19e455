import { workspaceDirectory } from "../workspace-directory.ts";
import { type PolicyChoice, type PolicyOptions, toPolicyChoice } from "./policy-choice.ts";
import { PolicyProcess } from "./policy-process.ts";

/** Who judges, and their process where it is a child of ours: it starts already. */
export interface StartedPolicy {
  readonly choice: PolicyChoice;
  readonly workspace: string;
  readonly process: PolicyProcess | undefined;
}

/**
 * Starts the policy's process before the rest of the server is loaded: the first prompt waits for both. Rejects with a
 * usage error.
 */
export const startPolicy = async (
  options: PolicyOptions & { readonly cwd: string; readonly binPath: string },
): Promise<StartedPolicy> => {
  const choice = toPolicyChoice(options);
  const workspace = await workspaceDirectory(options.cwd);
  if (choice.kind !== "child") return { choice, workspace, process: undefined };
  const { binPath } = options;
  const process = new PolicyProcess({ binPath, workspace, policy: choice.policy });
  process.startAhead();
  return { choice, workspace, process };
};
