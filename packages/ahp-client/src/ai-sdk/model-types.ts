import type { wrapLanguageModel } from "ai";

// The types of `@ai-sdk/provider`, by way of `ai`, so that users need no further package.

export type Model = Parameters<typeof wrapLanguageModel>[0]["model"];
export type CallOptions = Parameters<Model["doGenerate"]>[0];
export type Prompt = CallOptions["prompt"];
export type Message = Prompt[number];
export type GenerateResult = Awaited<ReturnType<Model["doGenerate"]>>;
export type StreamResult = Awaited<ReturnType<Model["doStream"]>>;
export type StreamPart = StreamResult["stream"] extends ReadableStream<infer Part> ? Part : never;
type UserPart = Extract<Message, { role: "user" }>["content"][number];
export type FilePart = Extract<UserPart, { type: "file" }>;
