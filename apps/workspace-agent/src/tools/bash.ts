import { ToolError } from "@harnesskit/thread-server";
import { z } from "zod";
import { commandEnvironment } from "../command-environment.ts";
import type { WorkspaceToolDefinition } from "../definition.ts";
import { maxCommandTimeoutMs } from "../limits.ts";
import { type CommandResult, runCommand } from "../run-command.ts";
import { throwIfCancelled } from "../text.ts";
import { WellFormedTextSchema } from "./path-schema.ts";

// Linux takes at most 128 KiB in one argument of a program.
const maxCommandBytes = 120_000;

const BashInputSchema = z.strictObject({
  command: WellFormedTextSchema.min(1)
    .refine((command) => !command.includes("\0"), { error: "contains a NUL character" })
    .refine((command) => Buffer.byteLength(command) <= maxCommandBytes, {
      error: `has more than ${maxCommandBytes} bytes`,
    })
    .describe("The command line, for bash where there is one, otherwise sh"),
  timeoutMs: z
    .int()
    .min(1)
    .max(maxCommandTimeoutMs)
    .exactOptional()
    .describe(
      "Time after which the command is ended, in milliseconds; 120000 if left out and not set up otherwise",
    ),
});

/** Input of the bash tool. */
export type BashInput = z.infer<typeof BashInputSchema>;

/** Output of the bash tool. */
export type BashOutput = {
  /** Null if a signal ended the shell. */
  exitCode: number | null;
  signal?: string;
  stdout: string;
  stderr: string;
  /** The middle of stdout or stderr was left out. */
  truncated?: true;
};

/** Runs a shell command. There is no sandbox: it may do whatever the user of this process may do. */
export const bashTool: WorkspaceToolDefinition<BashInput, BashOutput> = {
  name: "bash",
  description:
    "Runs a shell command that starts in the workspace directory. There is NO sandbox: the command has the rights of " +
    "the user who runs this program, in the whole system and network. Standard input is empty, few environment " +
    "variables are passed on, and processes that are left in the background are ended when the shell ends. Long output " +
    "keeps its start and end.",
  input: BashInputSchema,
  effects: "execute",

  async normalise(input, { limits }) {
    const { command, timeoutMs } = input;
    return timeoutMs === undefined || timeoutMs === limits.commandTimeoutMs
      ? { command }
      : { command, timeoutMs };
  },

  async run(input, { workspace, limits, env, signal, log }) {
    throwIfCancelled(signal);
    const timeoutMs = input.timeoutMs ?? limits.commandTimeoutMs;
    const request = {
      command: input.command,
      cwd: await workspace.verify(".").then(() => workspace.root),
      env: commandEnvironment(env, process.env),
      timeoutMs,
      killGraceMs: limits.killGraceMs,
      maxOutputBytes: limits.maxOutputBytes,
      maxStreamedBytes: limits.maxStreamedBytes,
      signal,
      log,
    };
    const result = await runCommand(request).catch((cause: unknown) => {
      throw new ToolError("tool.failed", "the shell could not be started", { cause });
    });
    const output = toOutput(result);
    if (result.ended === "cancelled")
      throw new ToolError("tool.cancelled", "the command was cancelled", { output });
    if (result.ended === "timeout")
      throw new ToolError("tool.timeout", `the command was ended after ${timeoutMs} ms`, { output });
    if (result.signal !== null)
      throw new ToolError("tool.failed", `the command was ended by ${result.signal}`, { output });
    if (result.exitCode !== 0)
      throw new ToolError("tool.failed", `the command exited with code ${result.exitCode}`, { output });
    return output;
  },
};

const toOutput = (result: CommandResult): BashOutput => ({
  exitCode: result.exitCode,
  ...(result.signal === null ? {} : { signal: result.signal }),
  stdout: result.stdout,
  stderr: result.stderr,
  ...(result.truncated ? { truncated: true } : {}),
});
