import { runMcpAgentProgram } from "./run-mcp-agent.ts";

await runMcpAgentProgram();
