import { program } from "../../scripts/rolldown.ts";

export default program(
  { bin: "src/bin.ts", "mcp-agent": "src/agents/mcp-agent-bin.ts" },
  {
    external: [
      "libsql",
      "nodemailer",
      "pg",
      "@opentelemetry/sdk-node",
      "@vscode/ripgrep",
      "@harnesskit/conformance",
    ],
    together: {
      start: /[\\/]cli[\\/]src[\\/]command-line\.ts$/,
      threads: /[\\/]cli[\\/]src[\\/]threads[\\/]threads\.ts$/,
      hub: /[\\/]cli[\\/]src[\\/]inbox[\\/](?:inbox|timeline)\.ts$/,
      run: /[\\/]cli[\\/]src[\\/](?:run[\\/]run|run[\\/]run-turns|serve[\\/]thread-service|supervision[\\/]supervision)\.ts$/,
      model: /[\\/]thread-server[\\/]src[\\/]ai-sdk[\\/]index\.ts$/,
      policy: /[\\/]cli[\\/]src[\\/]ahp[\\/](?:shipped-policy|policy-server)\.ts$/,
    },
  },
);
