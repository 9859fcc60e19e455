import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage } from "@langchain/core/messages";
import { RunnableBinding, RunnableLambda, RunnableSequence } from "@langchain/core/runnables";
import { FakeListChatModel } from "@langchain/core/utils/testing";
import { ConfigurableModel } from "langchain/chat_models/universal";
import { describe, expect, it } from "vitest";
import { superviseModel } from "../../src/langgraph/index.ts";
import { startHarness } from "../ai-sdk/in-process.ts";

type Options = Record<string, unknown>;

/** A model that notes what it was called with. */
class PlainModel extends BaseChatModel {
  constructor(
    readonly calls: Options[],
    readonly defaults: Options = {},
  ) {
    super({});
  }
  _llmType() {
    return "plain";
  }
  async _generate(_messages: unknown, options: Options) {
    this.calls.push({ ...options, ...this.defaults });
    return { generations: [{ text: "hello", message: new AIMessage("hello") }] };
  }
}

/** As the default of LangChain: the result binds `this`. */
class BindingModel extends PlainModel {
  override bindTools(tools: unknown[]) {
    return this.withConfig({ tools } as never) as never;
  }
}

/** As ChatOpenAI: what it derives is a model that is constructed anew. */
class AnewModel extends BindingModel {
  override withConfig(config: object) {
    return new AnewModel(this.calls, { ...this.defaults, ...config }) as never;
  }
  override withStructuredOutput() {
    return (this.bindTools([{ name: "extract" }]) as FakeListChatModel).pipe(
      RunnableLambda.from(() => "read"),
    ) as never;
  }
}

class NewToolsModel extends PlainModel {
  override bindTools(tools: unknown[]) {
    return new PlainModel(this.calls, { tools }) as never;
  }
  override withStructuredOutput() {
    const raw = new RunnableBinding({ bound: new PlainModel(this.calls), config: {}, kwargs: {} });
    return RunnableSequence.from([{ raw } as never, RunnableLambda.from(() => "read")]) as never;
  }
}

/** What it derives is bound to the first instance. */
class ArrowModel extends PlainModel {
  override bindTools = (tools: unknown[]) =>
    new RunnableBinding({ bound: this, config: { tools } as never, kwargs: {} }) as never;
}

class OpaqueModel extends PlainModel {
  override withStructuredOutput() {
    return RunnableLambda.from(() => new PlainModel(this.calls).invoke("hi")) as never;
  }
}

const tools = [{ name: "shell" }];
const blocking = () => startHarness({ pre_prompt: () => ({ decision: "block", reason: "a secret" }) });

describe("what is derived of a supervised model", () => {
  const ways: [string, (calls: Options[]) => PlainModel, (model: PlainModel) => any][] = [
    ["bindTools that binds `this`", (calls) => new BindingModel(calls), (model) => model.bindTools?.(tools)],
    [
      "bindTools over a withConfig that constructs anew",
      (calls) => new AnewModel(calls),
      (model) => model.bindTools?.(tools),
    ],
    [
      "withConfig that constructs anew",
      (calls) => new AnewModel(calls),
      (model) => model.withConfig({ tools } as never),
    ],
    [
      "withStructuredOutput over it",
      (calls) => new AnewModel(calls),
      (model) => model.withStructuredOutput({}),
    ],
    [
      "bindTools that returns a new model",
      (calls) => new NewToolsModel(calls),
      (model) => model.bindTools?.(tools),
    ],
    [
      "withStructuredOutput that builds a new model",
      (calls) => new NewToolsModel(calls),
      (model) => model.withStructuredOutput({}),
    ],
    ["bindTools of an instance", (calls) => new ArrowModel(calls), (model) => model.bindTools?.(tools)],
  ];

  it.each(ways)("is judged once, and not called when it is blocked: %s", async (_name, create, derive) => {
    const calls: Options[] = [];
    const allowing = await startHarness();
    await derive(superviseModel(create(calls), allowing.client)).invoke("hi");
    await allowing.settled();
    expect(allowing.types()).toEqual(["pre_prompt", "post_response"]);
    expect(calls).toHaveLength(1);
    const { client } = await blocking();
    await expect(derive(superviseModel(create(calls), client)).invoke("hi")).rejects.toMatchObject({
      ...{ name: "SupervisionError", code: "blocked" },
    });
    expect(calls).toHaveLength(1);
  });

  it("keeps its settings, and shows its tools", async () => {
    const harness = await startHarness();
    const calls: Options[] = [];
    const binding: any = superviseModel(new BindingModel(calls), harness.client).bindTools(tools);
    await binding.invoke("hi");
    expect(calls[0]).toMatchObject({ tools });
    expect(harness.seen[0]?.payload.tools).toEqual(["shell"]);
    await (superviseModel(new AnewModel(calls), harness.client).bindTools(tools) as BindingModel).invoke(
      "hi",
    );
    expect(calls[1]).toMatchObject({ tools });
  });

  it("throws where no model is found in it", async () => {
    const harness = await startHarness();
    const model: BaseChatModel = superviseModel(new OpaqueModel([]), harness.client);
    expect(() => model.withStructuredOutput({})).toThrowError(
      expect.objectContaining({
        code: "invalid_argument",
        message: expect.stringContaining("withStructuredOutput"),
      }),
    );
    expect(() => superviseModel({ invoke: () => "hi" }, harness.client)).toThrowError(
      expect.objectContaining({ code: "invalid_argument" }),
    );
  });

  it("may be a binding from the start", async () => {
    const { client } = await blocking();
    const calls: Options[] = [];
    const bound = new BindingModel(calls).bindTools(tools) as unknown as RunnableLambda<string, string>;
    await expect(superviseModel(bound, client).invoke("hi")).rejects.toMatchObject({ code: "blocked" });
    expect(calls).toEqual([]);
  });
});

describe("a model of `initChatModel`", () => {
  it("has the instance supervised that it makes at its first call", async () => {
    const harness = await startHarness();
    const lazy = new ConfigurableModel({});
    const instance = new FakeListChatModel({ responses: ["hello"] });
    Object.assign(lazy, { _getModelInstance: async () => instance });
    const model = superviseModel(lazy, harness.client);
    expect((await model.invoke("hi")).content).toBe("hello");
    for await (const _ of await model.stream("hi"));
    await harness.settled();
    expect(harness.types()).toEqual(["pre_prompt", "post_response", "pre_prompt", "post_response"]);
    const { client } = await blocking();
    await expect(superviseModel(lazy, client).invoke("hi")).rejects.toMatchObject({ code: "blocked" });
  });
});
