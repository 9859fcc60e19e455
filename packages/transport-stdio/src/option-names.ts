import { defineOptions } from "@harnesskit/wire";
import type { ChildTransportOptions } from "./child-transport-options.ts";
import type { StdioChannelOptions } from "./stdio-channel.ts";

export const checkChildTransportOptions = defineOptions<ChildTransportOptions>("createChildTransport", {
  command: true,
  args: false,
  cwd: false,
  env: false,
  inheritEnv: false,
  closeTimeoutMs: false,
  killTimeoutMs: false,
  exitGraceMs: false,
  stderr: false,
  maxStderrBytes: false,
  maxFrameBytes: false,
  maxDepth: false,
  keepLines: false,
  maxBufferedBytes: false,
  clock: false,
});

export const checkStdioChannelOptions = defineOptions<StdioChannelOptions>("createStdioChannel", {
  input: false,
  output: false,
  maxFrameBytes: false,
  maxDepth: false,
  keepLines: false,
  maxBufferedBytes: false,
  closeTimeoutMs: false,
  watchParent: false,
  parentCheckMs: false,
  parentGoneTimeoutMs: false,
  parentId: false,
  clock: false,
});
