import { tool as serverTool } from "@harnesskit/thread-server";
import { createAiSdkRunner } from "@harnesskit/thread-server/ai-sdk";
import { streamText, tool } from "ai";
import { serve } from "../lib/thread-server.mjs";
import { model } from "./model.mjs";
import { definitions } from "./tools.mjs";

const prompt = "hello";
const system = "You are a coding agent. You work in one directory with the tools you are given.";

/** Processor time of all threads of this process for the work, in milliseconds. */
const processorTime = async (work) => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

/** `streamText` itself, with tools that a program makes once. */
const alone = (names) => {
  const tools = Object.fromEntries(
    names.map((name) => {
      const [description, inputSchema] = definitions[name];
      return [name, tool({ description, inputSchema })];
    }),
  );
  return {
    async measure(count) {
      return processorTime(async () => {
        for (let index = 0; index < count; index++) {
          const messages = [{ role: "user", content: [{ type: "text", text: prompt }] }];
          const stream = streamText({ model, system, messages, tools });
          let text = "";
          for await (const part of stream.fullStream) if (part.type === "text-delta") text += part.text;
          if (!text.startsWith("Hello")) throw new RangeError(text);
        }
      });
    },
    close: async () => {},
  };
};

/** A thread server on files with the same tools; a new thread for each turn, as `streamText` has no history either. */
const served = (names) => (root) => {
  const tools = names.map((name) => {
    const [description, input] = definitions[name];
    return serverTool({ name, description, input, run: () => "" });
  });
  const agents = [{ name: "bench", systemPrompt: system }];
  const { server, turn, create } = serve(root, createAiSdkRunner({ model }), { tools, agents });
  return {
    async measure(count) {
      const threads = [];
      for (let index = 0; index < count; index++) threads.push(await create());
      return processorTime(async () => {
        for (const threadId of threads) {
          const end = await turn(threadId, prompt);
          if (end.status !== "completed") throw new RangeError(JSON.stringify(end));
        }
      });
    },
    close: () => server.close(),
  };
};

const all = Object.keys(definitions);
export const contenders = [
  { name: "streamText", peer: undefined, start: () => alone([]) },
  { name: "a turn", peer: "streamText", start: served([]) },
  { name: "streamText, six tools", peer: undefined, start: () => alone(all) },
  { name: "a turn, six tools", peer: "streamText, six tools", start: served(all) },
];
