import { defineTool } from "../tool.ts";
import {
  commandInputDeclaration,
  commandStopDeclaration,
  commandsDeclaration,
} from "../tool-declarations.ts";

/** Shows one command of the conversation, or all. */
export const commandsTool = defineTool(commandsDeclaration, {
  normalise: async (input) => input,
  run: async ({ id, waitMs = 0 }, { commands, owner, signal }) =>
    id === undefined ? { commands: commands.list(owner) } : commands.look(owner, id, waitMs, signal),
});

/** Writes to a command: what a shell or a program does with it is not known, so it is asked about like a command. */
export const commandInputTool = defineTool(commandInputDeclaration, {
  normalise: async (input) => input,
  run: async ({ id, text, end = false }, { commands, owner }) => commands.write(owner, id, text, end),
});

export const commandStopTool = defineTool(commandStopDeclaration, {
  normalise: async (input) => input,
  run: async ({ id }, { commands, owner }) => commands.stop(owner, id),
});
