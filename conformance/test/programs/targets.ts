import type { StartModule } from "../../src/index.ts";
import { startAhpAgent } from "../targets/ahp-agent.ts";
import { startAhpHarness } from "../targets/ahp-harness.ts";
import { createChatAdapter } from "../targets/chat-adapter.ts";
import { startRuntimeAgent } from "../targets/runtime-agent.ts";
import { startRuntimeCore } from "../targets/runtime-core.ts";
import { serveAdapter } from "../targets/serve-adapter.ts";
import { startShellClient } from "../targets/shell-client.ts";
import { startShellEngine } from "../targets/shell-engine.ts";
import { startThreadClient } from "../targets/thread-client.ts";
import { startThreadServer } from "../targets/thread-server.ts";

/** Our implementation of each role, by the suite that judges it. */
export const targets: Readonly<Record<string, StartModule>> = {
  "ahp-server": startAhpHarness,
  "ahp-client": startAhpAgent,
  "threads-server": startThreadServer,
  "threads-client": startThreadClient,
  "runtime-core": startRuntimeCore,
  "runtime-agent": startRuntimeAgent,
  "openharness-engine": startShellEngine,
  "openharness-shell": startShellClient,
  chat: serveAdapter(createChatAdapter),
};
