import { ToolError } from "@harnesskit/agent-sdk";
import { defined } from "@harnesskit/wire/json";
import { commandEnvironment } from "../command-environment.ts";
import { type CommandResult, runCommand } from "../run-command.ts";
import { defineTool } from "../tool.ts";
import { bashDeclaration } from "../tool-declarations.ts";

/** How long a command in the background is watched before it is left alone: one that fails at once is seen to. */
const settleMs = 1_000;

/**
 * Runs a shell command. There is no sandbox: it may do whatever the user of this process may do. The output of one that
 * fails is its partial result.
 */
export const bashTool = defineTool(bashDeclaration, {
  async normalise(input, { limits }) {
    const { command, timeoutMs, background } = input;
    if (background) return defined({ command, timeoutMs, background });
    return timeoutMs === undefined || timeoutMs === limits.commandTimeoutMs
      ? { command }
      : { command, timeoutMs };
  },

  async preview(_, { env }) {
    return env.length === 0 ? undefined : { text: passedOn(env), shownState: env.join(",") };
  },

  async run(input, { workspace, limits, env, signal, log, partialResult, commands, owner, shownState }) {
    if (shownState !== undefined && shownState !== env.join(","))
      throw new ToolError("tool.changed", "the command would see other variables than were shown");
    const timeoutMs = input.timeoutMs ?? (input.background ? undefined : limits.commandTimeoutMs);
    const request = {
      command: input.command,
      cwd: await workspace.verify(".").then(() => workspace.root),
      env: commandEnvironment(env, process.env),
      timeoutMs,
      killGraceMs: limits.killGraceMs,
      maxOutputBytes: limits.maxOutputBytes,
    };
    if (input.background) return commands.start(owner, request, settleMs);
    const { maxStreamedBytes } = limits;
    const result = await runCommand({ ...request, maxStreamedBytes, log }, signal).catch((cause: unknown) => {
      throw new ToolError("tool.failed", "the shell could not be started", { cause });
    });
    const { exitCode, signal: endedBy, stdout, stderr, truncated } = result;
    const output = defined({
      exitCode,
      signal: endedBy ?? undefined,
      stdout,
      stderr,
      truncated: truncated || undefined,
    });
    const failed = commandFailure(result, timeoutMs);
    if (failed === undefined) return output;
    partialResult(output);
    throw failed;
  },
});

/** What a human judges beside the command. */
const passedOn = (env: readonly string[]): string =>
  `Beside the usual variables, the command sees ${env.join(", ")} of your environment.`;

function commandFailure(
  { ended, signal, exitCode }: CommandResult,
  timeoutMs: number | undefined,
): ToolError | undefined {
  if (ended === "cancelled") return new ToolError("tool.canceled", "the command was cancelled");
  if (ended === "timeout")
    return new ToolError("tool.timeout", `the command was ended after ${timeoutMs} ms`);
  if (signal !== null) return new ToolError("tool.failed", `the command was ended by ${signal}`);
  return exitCode === 0
    ? undefined
    : new ToolError("tool.failed", `the command exited with code ${exitCode}`);
}
