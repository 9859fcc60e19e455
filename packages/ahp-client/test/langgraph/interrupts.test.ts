import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { Annotation, END, entrypoint, interrupt, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { createAgent, humanInTheLoopMiddleware } from "langchain";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { answerInterrupts } from "../../src/langgraph/index.ts";
import { startHarness } from "../ai-sdk/in-process.ts";
import { shell } from "./shell-tool.ts";

/** A model that says what a test wants. */
class ScriptedModel extends BaseChatModel {
  readonly #answers: AIMessage[];
  constructor(answers: AIMessage[]) {
    super({});
    this.#answers = answers;
  }
  _llmType() {
    return "scripted";
  }
  override bindTools() {
    return this as never;
  }
  async _generate() {
    const message = this.#answers.shift() ?? new AIMessage("nothing more");
    return { generations: [{ text: "", message }] };
  }
}

const approvals = (answers: readonly ("approve" | "reject")[]) => {
  const asked: string[] = [];
  const next = [...answers];
  return {
    asked,
    handlers: {
      confirmation: ({ payload }: { payload: { message: string } }) => {
        asked.push(payload.message);
        return next.shift() === "approve"
          ? ({ decision: "approve" } as const)
          : ({ decision: "reject", reason: "too risky" } as const);
      },
    } as never,
  };
};

const State = Annotation.Root({ done: Annotation<string> });

/** A graph whose one node asks, and says what it was answered. */
const asking = () =>
  new StateGraph(State)
    .addNode("deploy", () => {
      const { approved, reason = "" } = interrupt({ to: "production" }) as {
        approved: boolean;
        reason?: string;
      };
      return { done: approved ? "deployed" : `not deployed: ${reason}` };
    })
    .addEdge(START, "deploy")
    .addEdge("deploy", END)
    .compile({ checkpointer: new MemorySaver() });

describe("interrupts of a graph", () => {
  // LangGraph's saver takes the newest checkpoint by the time in its id: a clock that is set back would give an older one.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  const config = { configurable: { thread_id: "t1" } };

  it.each([
    ["approve", "deployed"],
    ["reject", "not deployed: too risky"],
  ] as const)("are answered through the harness: %s", async (answer, done) => {
    const { handlers, asked } = approvals([answer]);
    const harness = await startHarness(handlers);
    expect(await answerInterrupts(asking(), { done: "" }, config, harness.client)).toMatchObject({ done });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toContain('"to": "production"');
  });

  it("wait where there is no answer, and are asked again when the graph goes on", async () => {
    const graph = asking();
    const silent = await startHarness();
    await expect(answerInterrupts(graph, { done: "" }, config, silent.client)).rejects.toMatchObject({
      ...{ name: "SupervisionError", code: "unavailable" },
    });
    const { handlers } = approvals(["approve"]);
    const harness = await startHarness(handlers);
    expect(await answerInterrupts(graph, null, config, harness.client)).toMatchObject({ done: "deployed" });
    expect(await answerInterrupts(graph, null, config, harness.client)).toMatchObject({ done: "deployed" });
  });

  it("are asked once of a workflow that returns nothing", async () => {
    const answers: unknown[] = [];
    const workflow = entrypoint(
      { name: "deploy", checkpointer: new MemorySaver() },
      async (_input: string) => {
        answers.push(interrupt("deploy?"));
      },
    );
    const { handlers, asked } = approvals(["approve", "reject"]);
    const harness = await startHarness(handlers);
    expect(await answerInterrupts(workflow as never, "go", config, harness.client)).toBeUndefined();
    expect(answers).toEqual([{ approved: true }]);
    expect(asked).toHaveLength(1);
  });

  it("are asked once each, where one node asks more often than those beside it", async () => {
    const graph = new StateGraph(State)
      .addNode("twice", () => ({ done: `${JSON.stringify([interrupt("first"), interrupt("second")])}` }))
      .addNode("once", () => {
        interrupt("beside");
        // It ends without a result.
        return undefined as never;
      })
      .addEdge(START, "twice")
      .addEdge(START, "once")
      .compile({ checkpointer: new MemorySaver() });
    const harness = await startHarness();
    const asked: unknown[] = [];
    const onEscalate = async ({ message }: { readonly message: string }) => {
      asked.push(JSON.parse(message));
      return { approved: true };
    };
    await answerInterrupts(graph, { done: "" }, config, harness.client, { onEscalate });
    expect(asked).toEqual(["first", "beside", "second"]);
  });

  it("keep the answers that were given before one is missing", async () => {
    const Both = Annotation.Root({
      done: Annotation<string[]>({ reducer: (left, right) => left.concat(right), default: () => [] }),
    });
    const node = (name: string) => () => {
      const { approved } = interrupt(name) as { approved: boolean };
      return { done: [`${name} ${approved}`] };
    };
    const graph = new StateGraph(Both)
      .addNode("first", node("first"))
      .addNode("second", node("second"))
      .addEdge(START, "first")
      .addEdge(START, "second")
      .compile({ checkpointer: new MemorySaver() });
    const harness = await startHarness();
    const asked: string[] = [];
    let isAway = true;
    const onEscalate = async ({ message }: { readonly message: string }) => {
      asked.push(message);
      if (isAway && message.includes("second")) throw new Error("away");
      return { approved: true };
    };
    await expect(
      answerInterrupts(graph, { done: [] }, config, harness.client, { onEscalate }),
    ).rejects.toMatchObject({ name: "SupervisionError", code: "unavailable" });
    isAway = false;
    const { done } = await answerInterrupts(graph, null, config, harness.client, { onEscalate });
    expect(done).toEqual(["first true", "second true"]);
    expect(asked.map((message) => JSON.parse(message))).toEqual(["first", "second", "second"]);
  });

  it("of LangChain's middleware are asked action by action", async () => {
    const { own, runs } = shell();
    const { handlers, asked } = approvals(["approve", "reject"]);
    const harness = await startHarness(handlers);
    const model = new ScriptedModel([
      new AIMessage({
        content: "",
        tool_calls: [
          { name: "shell", args: { command: "ls" }, id: "c1" },
          { name: "shell", args: { command: "rm -rf /" }, id: "c2" },
        ],
      }),
      new AIMessage("done"),
    ]);
    const middleware = humanInTheLoopMiddleware({ interruptOn: { shell: true } } as never);
    // Its types and those of exact optional properties do not agree.
    const agent = createAgent({
      ...{ model, tools: [own], checkpointer: new MemorySaver() },
      middleware: [middleware],
    } as never);
    const output = (await answerInterrupts(
      agent as never,
      { messages: [new HumanMessage("go")] },
      { configurable: { thread_id: "t2" } },
      harness.client,
    )) as { messages: BaseMessage[] };
    expect(asked.map((text) => text.includes("rm -rf /"))).toEqual([false, true]);
    // LangChain runs none of a message's calls when one was refused.
    expect(runs).toEqual([]);
    expect(output.messages, JSON.stringify(output.messages)).toMatchObject([
      { type: "human", content: "go" },
      { type: "ai", content: "", tool_calls: [{ name: "shell", args: { command: "rm -rf /" }, id: "c2" }] },
      { type: "tool", content: "too risky", name: "shell", tool_call_id: "c2", status: "error" },
      { type: "ai", content: "done" },
    ]);
  });
});
