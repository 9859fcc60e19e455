import { defineOptions } from "@harnesskit/wire";
import type { AcpProxyOptions } from "./acp/acp-proxy.ts";
import type { GuardOptions } from "./guard.ts";
import type { HookHandlerOptions } from "./hook-handler.ts";
import type { HookListenerOptions } from "./hook-listener.ts";
import type { McpProxyOptions } from "./mcp/mcp-proxy.ts";
import type { ToolPinsOptions } from "./mcp/tool-pins.ts";
import type { ActionJudgeOptions } from "./proxy/action-judge.ts";

export const checkAcpProxyOptions = defineOptions<AcpProxyOptions>("createAcpProxy", {
  editor: true,
  agent: true,
  judge: true,
  previewOf: false,
  asking: { set: true, warn: true, refuse: true },
  limits: false,
  onNote: false,
  clock: false,
});

export const checkGuardOptions = defineOptions<GuardOptions>("createGuard", {
  harness: true,
  version: true,
  limits: false,
  onError: false,
  clock: false,
});

export const checkHookHandlerOptions = defineOptions<HookHandlerOptions>("createHookHandler", {
  timeoutMs: false,
});

export const checkHookListenerOptions = defineOptions<HookListenerOptions>("createHookListener", {
  guard: true,
  path: true,
  maxConnections: false,
  onError: false,
});

export const checkMcpProxyOptions = defineOptions<McpProxyOptions>("createMcpProxy", {
  client: true,
  server: true,
  judge: true,
  pins: true,
  name: true,
  limits: false,
  onNote: false,
  approvalUrl: false,
  clock: false,
});

export const checkToolPinsOptions = defineOptions<ToolPinsOptions>("openToolPins", {
  directory: true,
  name: true,
  place: true,
});

export const checkActionJudgeOptions = defineOptions<ActionJudgeOptions>("createActionJudge", {
  client: true,
  awayMs: false,
  clock: false,
});
