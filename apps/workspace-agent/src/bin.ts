import { displayText } from "@harnesskit/wire";
import { passedVariablesName } from "./declarations.ts";
import { createWorkspaceAgent } from "./workspace-agent.ts";

// The program of the manifest. The core may look it up on another path than the one that commands are to see.
const commandPath = process.env.HARNESS_COMMAND_PATH;
if (commandPath !== undefined) process.env.PATH = commandPath;

const passed = Object(JSON.parse(process.env[passedVariablesName] ?? "{}")) as Record<string, string>;
delete process.env[passedVariablesName];
Object.assign(process.env, passed);

const run = async () => createWorkspaceAgent({ env: Object.keys(passed) }).run();

run().catch((error: unknown) => {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`harnesskit-workspace-agent: ${displayText(message, { maxLength: 1000 })}\n`);
  process.exitCode = 1;
});
