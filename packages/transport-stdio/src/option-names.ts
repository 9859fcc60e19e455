import { defineOptions } from "@harnesskit/wire";
import type { ChildTransportOptions } from "./child-transport-options.ts";
import type { StdioChannelOptions } from "./stdio-channel.ts";

const lines = { maxFrameBytes: false, maxDepth: false, keepLines: false, maxBufferedBytes: false } as const;
const channel = { ...lines, closeTimeoutMs: false, clock: false } as const;

export const checkChildTransportOptions = defineOptions<ChildTransportOptions>("createChildTransport", {
  ...channel,
  command: true,
  args: false,
  cwd: false,
  env: false,
  inheritEnv: false,
  killTimeoutMs: false,
  exitGraceMs: false,
  stderr: false,
  maxStderrBytes: false,
});

export const checkStdioChannelOptions = defineOptions<StdioChannelOptions>("createStdioChannel", {
  ...channel,
  input: false,
  output: false,
  watchParent: false,
  parentId: false,
});
