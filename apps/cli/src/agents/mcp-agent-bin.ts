import { runMcpAgentProgram } from "@harnesskit/mcp-agent";

await runMcpAgentProgram();
