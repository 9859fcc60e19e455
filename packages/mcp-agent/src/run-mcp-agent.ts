import { displayText } from "@harnesskit/wire";
import { readMcpAgentFile } from "./agent-directory.ts";
import { createMcpAgent } from "./mcp-agent.ts";

/** The program of a generated directory: serves the MCP server that the working directory describes. Never rejects. */
export const runMcpAgentProgram = async (): Promise<void> => {
  try {
    await createMcpAgent(await readMcpAgentFile(process.cwd())).run();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`mcp-agent: ${displayText(message, { maxLength: 1000 })}\n`);
    process.exitCode = 1;
  }
};
