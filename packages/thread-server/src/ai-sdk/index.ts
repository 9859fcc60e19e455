export { type AiSdkRunnerOptions, createAiSdkRunner } from "./ai-sdk-runner.ts";
export { fromAiSdkTool, toAiSdkTool } from "./ai-sdk-tools.ts";
