import type { ShownCommand } from "../background-commands.ts";
import {
  type CommandInputInput,
  type CommandStopInput,
  type CommandsInput,
  commandInputDeclaration,
  commandStopDeclaration,
  commandsDeclaration,
} from "../command-declarations.ts";
import type { WorkspaceToolDefinition } from "../definition.ts";

/** Shows one command of the conversation, or all. */
export const commandsTool: WorkspaceToolDefinition<
  CommandsInput,
  ShownCommand | { commands: ShownCommand[] }
> = {
  ...commandsDeclaration,
  normalise: async (input) => input,
  run: async ({ id, waitMs = 0 }, { commands, owner, signal }) =>
    id === undefined ? { commands: commands.list(owner) } : commands.look(owner, id, waitMs, signal),
};

/** Writes to a command: what a shell or a program does with it is not known, so it is asked about like a command. */
export const commandInputTool: WorkspaceToolDefinition<CommandInputInput, ShownCommand> = {
  ...commandInputDeclaration,
  normalise: async (input) => input,
  run: async ({ id, text, end = false }, { commands, owner }) => commands.write(owner, id, text, end),
};

export const commandStopTool: WorkspaceToolDefinition<CommandStopInput, ShownCommand> = {
  ...commandStopDeclaration,
  normalise: async (input) => input,
  run: async ({ id }, { commands, owner }) => commands.stop(owner, id),
};
