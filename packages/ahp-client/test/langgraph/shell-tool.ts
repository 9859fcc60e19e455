import { tool } from "@langchain/core/tools";
import * as z from "zod";

/** A tool that notes its runs. */
export const shell = () => {
  const runs: unknown[] = [];
  const own = tool(
    async (input: { command: string; times: number }) => {
      runs.push(input);
      return `ran ${input.command}`;
    },
    {
      name: "shell",
      description: "Runs a command",
      schema: z.object({ command: z.string(), times: z.number().default(1) }),
    },
  );
  return { runs, own };
};
