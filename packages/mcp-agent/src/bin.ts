import { runMcpAgentProgram } from "./agent-directory.ts";

await runMcpAgentProgram();
