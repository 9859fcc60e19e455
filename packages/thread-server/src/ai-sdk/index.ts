export { type AiSdkRunnerOptions, createAiSdkRunner } from "./ai-sdk-runner.ts";
