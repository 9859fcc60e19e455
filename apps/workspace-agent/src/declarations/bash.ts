import * as z from "zod";
import { maxCommandTimeoutMs } from "../limits.ts";
import { declareTool } from "./declare-tool.ts";
import { WellFormedTextSchema } from "./fields.ts";

// Linux takes at most 128 KiB in one argument of a program.
const maxCommandBytes = 120_000;

export const bashDeclaration = declareTool({
  name: "bash",
  effects: "execute",
  description:
    "Runs a shell command that starts in the workspace directory. There is NO sandbox: the command has the rights of " +
    "the user who runs this program, in the whole system and network. Standard input is empty, few environment " +
    "variables are passed on, and processes that are left in the background are ended when the shell ends. Long output " +
    "keeps its start and end.",
  shape: {
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
  },
});

/** Input of the bash tool. */
export type BashInput = z.infer<typeof bashDeclaration.input>;
