import { createInterface } from "node:readline";
import { createStdioChannel } from "@harnesskit/transport-stdio";
import { answerLines } from "../../mutants/serve-adapter.ts";
import type { StartModule } from "../../src/index.ts";
import { startAhpAgent } from "../targets/ahp-agent.ts";
import { createTestHarness } from "../targets/ahp-harness.ts";
import { createChatAdapter } from "../targets/chat-adapter.ts";
import { startShellClient } from "../targets/shell-client.ts";
import { createTestEngine } from "../targets/shell-engine.ts";
import { startThreadClient } from "../targets/thread-client.ts";
import { createTestThreadServer } from "../targets/thread-server.ts";

const {
  CONFORMANCE_DIR: directory = ".",
  CONFORMANCE_ENDPOINT: endpoint = "",
  CONFORMANCE_TOKEN: token = "",
} = process.env;

/** The driver on standard input and output. */
const drive = async (start: StartModule): Promise<void> => {
  const agent = await start({ endpoint, token, directory });
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, do: operation, params } = JSON.parse(line) as { id: number; do: string; params: unknown };
    const write = (outcome: object) => process.stdout.write(`${JSON.stringify({ id, ...outcome })}\n`);
    agent.do?.(operation, params).then(
      (result) => write({ result: result ?? {} }),
      (error: Error) => write({ error: { ...error, message: error.message } }),
    );
  }
  await agent.close();
};

const programs: Readonly<Record<string, () => unknown>> = {
  "ahp-server": () => createTestHarness().connect(createStdioChannel()),
  "threads-server": () => createTestThreadServer(directory).connect(createStdioChannel()),
  "openharness-engine": () => createTestEngine(directory).connect(createStdioChannel()),
  chat: () => answerLines(createChatAdapter, directory, process.stdin, (line) => process.stdout.write(line)),
  "ahp-client": () => drive(startAhpAgent),
  "threads-client": () => drive(startThreadClient),
  "openharness-shell": () => drive(startShellClient),
};

await programs[process.argv[2] ?? ""]?.();
