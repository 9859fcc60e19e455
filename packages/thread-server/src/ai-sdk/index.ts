export { type AiSdkRunnerOptions, createAiSdkRunner } from "./ai-sdk-runner.ts";
export type { AttachmentOptions } from "./attached-files.ts";
