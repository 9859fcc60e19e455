import { createInterface } from "node:readline";
import { createStdioChannel } from "@harnesskit/transport-stdio";
import type { StartModule } from "../../src/index.ts";
import { answerLines } from "../targets/serve-adapter.ts";
import { targets } from "./targets.ts";

const {
  CONFORMANCE_DIR: directory = ".",
  CONFORMANCE_ENDPOINT: endpoint = "",
  CONFORMANCE_TOKEN: token = "",
} = process.env;

/** The driver on standard input and output; their end ends the program. */
const drive = async (start: StartModule | undefined): Promise<void> => {
  const target = await start?.({ endpoint, token, directory });
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, do: operation, params } = JSON.parse(line) as { id: number; do: string; params: unknown };
    const write = (outcome: object) => process.stdout.write(`${JSON.stringify({ id, ...outcome })}\n`);
    target?.do?.(operation, params).then(
      (result) => write({ result: result ?? {} }),
      (error: Error) => write({ error: { ...error, message: error.message } }),
    );
  }
  await target?.close();
};

/** What has standard input and output for its protocol, or is started by a core as any agent is. */
const programs: Readonly<Record<string, () => Promise<unknown>>> = {
  "ahp-server": async () =>
    (await import("../targets/ahp-harness.ts")).createTestHarness().connect(createStdioChannel()),
  "threads-server": async () =>
    (await import("../targets/thread-server.ts"))
      .createTestThreadServer(directory)
      .connect(createStdioChannel()),
  "launched-agent": async () => (await import("../targets/runtime-agent.ts")).createTestAgent().run(),
  "openharness-engine": async () =>
    (await import("../targets/shell-engine.ts")).createTestEngine(directory).connect(createStdioChannel()),
  chat: async () =>
    answerLines(
      (await import("../targets/chat-adapter.ts")).createChatAdapter,
      directory,
      process.stdin,
      (line) => process.stdout.write(line),
    ),
};

const [, , name = ""] = process.argv;
const program = endpoint === "stdio:" || name === "launched-agent" ? programs[name] : undefined;
await (program === undefined ? drive(targets[name]) : program());
