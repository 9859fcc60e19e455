import { join } from "node:path";
import { displayText } from "@harnesskit/wire";
import { MCP_SERVER_FILE, readMcpServerFile } from "./agent-directory.ts";
import { createMcpAgent } from "./mcp-agent.ts";

/** Beside the start of the server, to read its tools. */
const listWaitMs = 3000;

/** The program of a generated directory: serves the MCP server that the working directory describes. Never rejects. */
export const runMcpAgentProgram = async (): Promise<void> => {
  try {
    const { id = "", ...file } = await readMcpServerFile(join(process.cwd(), MCP_SERVER_FILE));
    const { connectTimeoutMs } = file;
    // Its manifest gives it the time; one without was written before there was an option.
    const startWaitMs = connectTimeoutMs === undefined ? undefined : connectTimeoutMs + listWaitMs;
    await createMcpAgent({ ...file, id, startWaitMs }).run();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`mcp-agent: ${displayText(message, { maxLength: 1000 })}\n`);
    process.exitCode = 1;
  }
};
