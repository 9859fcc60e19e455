export { type AiSdkRunnerOptions, createAiSdkRunner } from "./ai-sdk-runner.ts";
export { type FromAiSdkToolOptions, fromAiSdkTool, toAiSdkTool } from "./ai-sdk-tools.ts";
