import { runMcpAgentProgram } from "../src/index.ts";

await runMcpAgentProgram();
