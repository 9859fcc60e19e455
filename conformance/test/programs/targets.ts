import type { StartModule } from "../../src/index.ts";
import { serveAdapter } from "../targets/serve-adapter.ts";

/** Our implementation of each role, by the suite that judges it. A process loads the one that it runs. */
export const targets: Readonly<Record<string, StartModule>> = {
  "ahp-server": async (place) => (await import("../targets/ahp-harness.ts")).startAhpHarness(place),
  "ahp-client": async (place) => (await import("../targets/ahp-agent.ts")).startAhpAgent(place),
  "threads-server": async (place) => (await import("../targets/thread-server.ts")).startThreadServer(place),
  "threads-client": async (place) => (await import("../targets/thread-client.ts")).startThreadClient(place),
  "runtime-core": async (place) => (await import("../targets/runtime-core.ts")).startRuntimeCore(place),
  "runtime-agent": async (place) => (await import("../targets/runtime-agent.ts")).startRuntimeAgent(place),
  "openharness-engine": async (place) => (await import("../targets/shell-engine.ts")).startShellEngine(place),
  "openharness-shell": async (place) => (await import("../targets/shell-client.ts")).startShellClient(place),
  chat: async (place) => serveAdapter((await import("../targets/chat-adapter.ts")).createChatAdapter)(place),
};
