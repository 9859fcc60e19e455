import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAhpServer } from "@harnesskit/ahp-server";
import { commandJudge } from "@harnesskit/command-judge";
import { createPolicyHarness } from "@harnesskit/policy";
import { defaultPolicyFile, loadPolicy } from "@harnesskit/policy/node";
import { onTestFinished } from "vitest";

/** A directory that is removed with the test. */
export const makeDirectory = async (): Promise<string> => {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "guard-test-")));
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));
  return directory;
};

/** What Codex writes before it runs a command. */
export const codexInput = (command: string, more: object = {}): string =>
  JSON.stringify({
    session_id: "s1",
    turn_id: "t1",
    cwd: "/work/app",
    hook_event_name: "PreToolUse",
    model: "m",
    permission_mode: "default",
    tool_name: "Bash",
    tool_input: { command },
    tool_use_id: "c1",
    ...more,
  });

/** The reason of a refusal in the form of Codex; undefined for anything else. */
export const refusalOf = (stdout: string): string | undefined => {
  const { hookSpecificOutput: output } = JSON.parse(stdout) as {
    hookSpecificOutput?: { permissionDecision?: string; permissionDecisionReason?: string };
  };
  return output?.permissionDecision === "deny" ? output.permissionDecisionReason : undefined;
};

/** A harness with the shipped policy for coding agents. */
export const policyHarness = async () => {
  const policy = createPolicyHarness({ policy: await loadPolicy(defaultPolicyFile, commandJudge()) });
  const { handlers, capabilities } = policy;
  return createAhpServer({ name: "test", version: "1.0.0", handlers, capabilities });
};

export const never = new AbortController().signal;
