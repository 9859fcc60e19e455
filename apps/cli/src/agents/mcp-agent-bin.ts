import { runMcpAgentProgram } from "@harnesskit/mcp-agent";

void runMcpAgentProgram();
