import { createChatHarness } from "@harnesskit/chat-harness";
import { createChatGraph } from "@harnesskit/chat-harness/ai-sdk";
import { verifies } from "@harnesskit/conformance/verifies";
import {
  approvalSubject,
  type ShellResponse,
  type StreamFrame,
  streamingCapability,
} from "@harnesskit/protocol/openharness";
import { createDeferred, digest, isMessageStream } from "@harnesskit/wire";
import { describe, expect, it, onTestFinished } from "vitest";
import { createChatShellEngine, streamTurn } from "../src/index.ts";
import { type Answer, says, scriptedModel } from "./support/scripted-model.ts";
import { able, askedIn, codeOf, look, mailTools, sendTo, shown } from "./support/started.ts";

const capabilities = { ...able, "openharness.streaming": streamingCapability };

const start = (...answers: readonly Answer[]) => {
  const { model } = scriptedModel(...answers);
  const { tools, done } = mailTools();
  const graph = createChatGraph({ model, tools, maxRetries: 0, onEvent: streamTurn });
  const harness = createChatHarness({ graph });
  const engine = createChatShellEngine({ harness, capabilities: { "openharness.streaming": true } });
  onTestFinished(async () => {
    await engine.close();
    await harness.close();
  });
  let count = 0;
  const ask = (context: object, declared: object = capabilities) =>
    engine.handleStream(
      {
        protocol_version: "1.0.0",
        request_id: `r${++count}`,
        capabilities: declared,
        request: { context: { session_id: "s1", ...context } },
      },
      { principal: "me" },
    );
  const framesOf = async (answer: unknown): Promise<StreamFrame[]> => {
    const frames: StreamFrame[] = [];
    if (!isMessageStream(answer)) return expect.fail("it is not a stream");
    for await (const { message } of answer) frames.push(message as StreamFrame);
    return frames;
  };
  return { engine, done, ask, frames: async (context: object) => framesOf(await ask(context)), framesOf };
};

const textOf = (frames: readonly StreamFrame[]) =>
  frames.map((frame) => (frame.type === "text" ? frame.delta : "")).join("");
const progressOf = (frames: readonly StreamFrame[]) =>
  frames.flatMap((frame) => (frame.type === "progress" ? [`${frame.state}: ${frame.message}`] : []));
const responseOf = (frames: readonly StreamFrame[]) => {
  const last = frames.at(-1);
  return (last?.type === "end" ? last.response : undefined) as unknown as ShellResponse;
};

describe("a conversation whose shell reads streams", () => {
  it("shows what the model says and the calls that it makes, each in its own turn", async () => {
    verifies("OH-99");
    const chat = start(says("I look. ", look("c1")), says("Two mails."), says("Hello."));
    const frames = await chat.frames({ user_intent: "what is new?" });
    expect(textOf(frames)).toBe("I look. Two mails.");
    expect(new Set(frames.flatMap((frame) => (frame.type === "text" ? [frame.message_id] : []))).size).toBe(
      2,
    );
    expect(progressOf(frames)).toEqual(["running: look", "done: look, 1 line"]);
    expect(shown(responseOf(frames)).at(-1)).toBe("Two mails.");
    const plain = (await chat.ask({ user_intent: "hi" }, able)) as ShellResponse;
    expect(shown(plain)).toEqual(["Hello."]);
  });

  it("shows the turn that an answer resumes to the shell that has answered", async () => {
    verifies("OH-99");
    const chat = start(says("I ask. ", sendTo("c1", "Ada")), says("It is sent."));
    const asked = await chat.frames({ user_intent: "write to Ada" });
    expect(textOf(asked)).toBe("I ask. ");
    const { directive, continuation } = askedIn(responseOf(asked));
    const approval = { decision: "approved", digest: await digest(approvalSubject(directive)) };
    const frames = await chat.frames({ continuation, extensions: { "dev.harnesskit": { approval } } });
    expect([textOf(frames), progressOf(frames)]).toEqual([
      "It is sent.",
      ["running: send", "done: send, 1 line"],
    ]);
    expect(chat.done).toEqual(["sent to Ada"]);
  });

  it("is stopped by its shell: the turn is discarded, and the next one begins", async () => {
    verifies("OH-92", "OH-99");
    const asked = createDeferred<void>();
    const stuck: Answer = ({ abortSignal }) => {
      asked.resolve();
      return new Promise((_, reject) =>
        abortSignal?.addEventListener("abort", () => reject(abortSignal.reason)),
      );
    };
    const chat = start(stuck, says("Here."));
    const answer = await chat.ask({ user_intent: "think" });
    if (!isMessageStream(answer)) return expect.fail("it is not a stream");
    const iterator = answer[Symbol.asyncIterator]();
    const { value: opened } = await iterator.next();
    await asked.promise;
    const { stream_id } = opened.message as StreamFrame;
    await chat.engine.handleStream(
      { type: "stream.cancel", stream_id, session_id: "s1" },
      { principal: "me" },
    );
    const { value: end } = await iterator.next();
    expect(codeOf(responseOf([end.message as StreamFrame]))).toBe("cancelled");
    expect(textOf(await chat.frames({ user_intent: "are you there?" }))).toBe("Here.");
  });
});
