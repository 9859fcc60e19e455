import { program, quickProgram } from "../../scripts/tsup.ts";

export default [
  program({ bin: "src/bin.ts", "mcp-agent": "src/agents/mcp-agent-bin.ts" }, [
    "libsql",
    "nodemailer",
    "pg",
    "@opentelemetry/sdk-node",
    "@vscode/ripgrep",
    "@harnesskit/conformance",
  ]),
  quickProgram({ "guard-hook": "src/guard/guard-hook-bin.ts" }),
];
