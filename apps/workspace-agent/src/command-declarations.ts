import * as z from "zod";
import { declare, WellFormedSchema } from "./declare.ts";
import { maxCommandTimeoutMs } from "./limits.ts";

// Of commands in the background.

const CommandIdSchema = z.string().min(1).max(100).describe("The `id` that bash returned for it");

export const commandsDeclaration = declare(
  "commands",
  "read",
  "Shows the commands that this conversation started in the background, with their output so far and how they ended: " +
    "one of them by its `id`, after waiting for its end where `waitMs` is given, or all. Long output keeps its start and end.",
  {
    id: CommandIdSchema.exactOptional(),
    waitMs: z
      .int()
      .min(0)
      .max(maxCommandTimeoutMs)
      .exactOptional()
      .describe("How long to wait for its end, in milliseconds; not at all if left out"),
  },
);
export type CommandsInput = z.infer<typeof commandsDeclaration.input>;

export const commandInputDeclaration = declare(
  "command_input",
  "execute",
  "Writes to the standard input of a command in the background.",
  {
    id: CommandIdSchema,
    text: WellFormedSchema.max(65_536).describe("What is written, as it is: end a line with a line feed"),
    end: z.boolean().exactOptional().describe("Close its standard input after that"),
  },
);
export type CommandInputInput = z.infer<typeof commandInputDeclaration.input>;

// It ends only what a human has allowed this conversation to start, which no one needs to be asked about again.
export const commandStopDeclaration = declare(
  "command_stop",
  "read",
  "Ends a command in the background with all that it started.",
  { id: CommandIdSchema },
);
export type CommandStopInput = z.infer<typeof commandStopDeclaration.input>;

/** The tool by which a host learns what became of the commands in the background of a conversation. */
export const endedCommandsToolName = "ended_commands";

/** What `ended_commands` returns: the commands that run, those that have ended, and those of whose end the conversation has heard before. */
export const EndedCommandsSchema = z.object({
  commands: z.array(
    z.object({
      id: z.string(),
      state: z.enum(["running", "ended", "told"]),
      exitCode: z.number().nullish(),
      signal: z.string().exactOptional(),
      stopped: z.literal(true).exactOptional(),
    }),
  ),
});
