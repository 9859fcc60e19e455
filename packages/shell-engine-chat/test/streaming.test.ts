import { createChatHarness } from "@harnesskit/chat-harness";
import { createChatGraph } from "@harnesskit/chat-harness/ai-sdk";
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
    await harness.close({ timeoutMs: 0 });
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
  const framesOf = async (
    answer: unknown,
    onOpened: (streamId: string) => void = () => {},
  ): Promise<StreamFrame[]> => {
    const frames: StreamFrame[] = [];
    if (!isMessageStream(answer)) return expect.fail("it is not a stream");
    for await (const message of answer) {
      const frame = message as StreamFrame;
      frames.push(frame);
      if (frame.type === "opened") onOpened(frame.stream_id);
    }
    return frames;
  };
  /** Cancels a stream as soon as something has happened. */
  const cancelOnce = (happened: Promise<void>) => async (stream_id: string) => {
    await happened;
    await engine.handleStream({ type: "stream.cancel", stream_id, session_id: "s1" }, { principal: "me" });
  };
  const frames = async (context: object) => framesOf(await ask(context));
  return { engine, harness, done, ask, frames, framesOf, cancelOnce };
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

  /** A model that says nothing until it is stopped. */
  const stuckModel = () => {
    const asked = createDeferred<void>();
    const stopped = createDeferred<void>();
    const stuck: Answer = ({ abortSignal }) => {
      asked.resolve();
      return new Promise((_, reject) =>
        abortSignal?.addEventListener("abort", () => {
          stopped.resolve();
          reject(abortSignal.reason);
        }),
      );
    };
    return { stuck, asked: asked.promise, stopped: stopped.promise };
  };

  it("is stopped by its shell: the turn is discarded, and the next one begins", async () => {
    const { stuck, asked } = stuckModel();
    const chat = start(stuck, says("Here."));
    const frames = chat.framesOf(await chat.ask({ user_intent: "think" }), chat.cancelOnce(asked));
    expect(codeOf(responseOf(await frames))).toBe("cancelled");
    expect(textOf(await chat.frames({ user_intent: "are you there?" }))).toBe("Here.");
  });

  it("is stopped by its shell after an answer too: the turn ends, and does nothing a second time", async () => {
    const { stuck, asked, stopped } = stuckModel();
    const chat = start(says("", sendTo("c1", "Ada")), stuck, says("Here."));
    const { directive, continuation } = askedIn(
      responseOf(await chat.frames({ user_intent: "write to Ada" })),
    );
    const approval = { decision: "approved", digest: await digest(approvalSubject(directive)) };
    const answered = { continuation, extensions: { "dev.harnesskit": { approval } } };
    const frames = await chat.framesOf(await chat.ask(answered), chat.cancelOnce(asked));
    expect(codeOf(responseOf(frames))).toBe("cancelled");
    await stopped;
    expect(textOf(await chat.frames({ user_intent: "are you there?" }))).toBe("Here.");
    expect(chat.done).toEqual(["sent to Ada"]);
    expect(await chat.harness.pending("s1")).toMatchObject({ suspended: [] });
  });

  it("goes on with the turn of an answer when the engine closes: its harness is still there", async () => {
    const { stuck, asked } = stuckModel();
    let isStopped = false;
    const chat = start(says("", sendTo("c1", "Ada")), (call) => {
      call.abortSignal?.addEventListener("abort", () => {
        isStopped = true;
      });
      return stuck(call);
    });
    const { directive, continuation } = askedIn(
      responseOf(await chat.frames({ user_intent: "write to Ada" })),
    );
    const approval = { decision: "approved", digest: await digest(approvalSubject(directive)) };
    const frames = chat.frames({ continuation, extensions: { "dev.harnesskit": { approval } } });
    await asked;
    await chat.engine.close();
    expect(codeOf(responseOf(await frames))).toBe("cancelled");
    expect(isStopped).toBe(false);
  });
});
