import type { JsonObject } from "@harnesskit/protocol/envelope";
import { InvalidArgumentError } from "@harnesskit/wire";
import { clip } from "../supervise/clip.ts";
import { allowModelCall } from "../supervise/model-request.ts";
import { Supervision } from "../supervise/supervision.ts";
import type { SupervisingClient, SupervisionOptions } from "../supervise/supervision-options.ts";
import { type LangChainMessage, showMessage, wantedMessages } from "./messages.ts";
import { replaceModels } from "./replace-models.ts";

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly tools?: readonly unknown[];
}

interface Generations {
  readonly generations: readonly { readonly text?: string; readonly message?: LangChainMessage }[];
}

type Messages = readonly LangChainMessage[];

/** The parts of a chat model that its class keeps to itself. */
interface Callable {
  _llmType(): string;
  _generate(messages: Messages, options: CallOptions, runManager?: unknown): Promise<Generations>;
  _streamResponseChunks?(
    messages: Messages,
    options: CallOptions,
    runManager?: unknown,
  ): AsyncIterable<unknown>;
  _streamChatModelEvents?(
    messages: Messages,
    options: CallOptions,
    runManager?: unknown,
  ): AsyncIterable<unknown>;
}

/** A model of LangChain's `initChatModel`. */
interface Lazy {
  _getModelInstance?(config: unknown): Promise<unknown>;
}

const streams = ["_streamResponseChunks", "_streamChatModelEvents"] as const;

/**
 * The model's own way to stream. LangChain asks whether a class replaces that of `BaseChatModel`, which cannot stream, and which is known by
 * what only it has.
 */
const ownStream = (model: Callable, name: (typeof streams)[number]): Callable[typeof name] => {
  for (let holder: object = model; holder !== null; holder = Object.getPrototypeOf(holder)) {
    if (Object.hasOwn(holder, name)) return Object.hasOwn(holder, "generatePrompt") ? undefined : model[name];
  }
  return undefined;
};

/** The names of tools in the forms of the large providers. */
const toolNames = (tools: readonly unknown[]): string[] =>
  tools.flatMap((tool) => {
    const { name, function: own } = (tool ?? {}) as { name?: unknown; function?: { name?: unknown } };
    const found = typeof name === "string" ? name : own?.name;
    return typeof found === "string" ? [found] : [];
  });

const nameOfModel = (model: object): string => {
  const { model: name, modelName } = model as { model?: unknown; modelName?: unknown };
  const found = [name, modelName].find((each) => typeof each === "string");
  return (found as string | undefined) ?? model.constructor.name;
};

const textOfChunk = (chunk: unknown): string => {
  const { text } = (chunk ?? {}) as { text?: unknown };
  return typeof text === "string" ? text : "";
};

/** Which harnesses judge a copy: by it a model is known that needs no second one. */
const judges = new WeakMap<object, ReadonlySet<Supervision>>();

/** What gives another runnable for the same model. Some classes construct it anew, without what the copy overrides. */
const deriving = ["bind", "bindTools", "withConfig", "withStructuredOutput"] as const;

const modelCalls = (supervision: Supervision, inner: Callable): Partial<Callable> => {
  const { maxReportTextBytes } = supervision.limits;
  const request = { model: nameOfModel(inner), provider: inner._llmType() };

  const allowed = async (given: Messages, { signal, tools = [] }: CallOptions) => {
    const asked = { ...request, messages: given.map(showMessage), tools: toolNames(tools), signal };
    const { wanted = given, report } = await allowModelCall(supervision, asked, (messages) => ({
      value: wantedMessages(given, messages),
      messages,
    }));
    return { messages: wanted, report };
  };
  const textFields = (text: string, length = text.length): JsonObject => ({
    text: clip(text, maxReportTextBytes),
    text_length: length,
  });
  const outcomeOf = (signal: AbortSignal | undefined) => (signal?.aborted ? "cancelled" : "error");

  const overrides: Partial<Callable> = {
    async _generate(given, call, runManager) {
      const { messages, report } = await allowed(given, call);
      try {
        const result = await inner._generate(messages, call, runManager);
        report("success", textFields(textOfChunk(result.generations[0])));
        return result;
      } catch (error) {
        report(outcomeOf(call.signal), {}, error);
        throw error;
      }
    },
  };
  for (const name of streams) {
    const stream = ownStream(inner, name);
    if (stream === undefined) continue;
    overrides[name] = async function* (given, call, runManager) {
      const { messages, report } = await allowed(given, call);
      let text = "";
      let length = 0;
      try {
        for await (const chunk of Reflect.apply(stream, inner, [messages, call, runManager])) {
          const added = textOfChunk(chunk);
          length += added.length;
          // One more than can be reported, so that the cut is visible.
          if (text.length <= maxReportTextBytes) text += added;
          yield chunk;
        }
        report("success", textFields(text, length));
      } catch (error) {
        report(outcomeOf(call.signal), {}, error);
        throw error;
      } finally {
        // A reader of the stream may stop before its end.
        report("cancelled");
      }
    };
  }
  return overrides;
};

/** The runnable with each of its models supervised. `origin` says where it is from. */
const supervised = (supervision: Supervision, runnable: unknown, origin: string): unknown => {
  let models = 0;
  const result = replaceModels(runnable, (model) => {
    models++;
    return judges.get(model)?.has(supervision) ? model : supervisedCopy(supervision, model);
  });
  if (models > 0) return result;
  throw new InvalidArgumentError(
    `${origin} cannot be supervised: it holds no chat model that can be seen (one with \`_generate\`)`,
  );
};

const supervisedCopy = (supervision: Supervision, model: object): object => {
  const { _getModelInstance: instanceOf } = model as Lazy;
  const overrides: Record<string, unknown> = instanceOf
    ? {
        // A model of `initChatModel` makes another one at its first call, which it calls in every way.
        _getModelInstance: async (config: unknown) =>
          supervised(supervision, await Reflect.apply(instanceOf, model, [config]), "the model's instance"),
      }
    : { ...modelCalls(supervision, model as Callable) };
  for (const name of deriving) {
    const derive: unknown = (model as Record<string, unknown>)[name];
    if (typeof derive !== "function") continue;
    overrides[name] = function (this: object, ...given: unknown[]) {
      return supervised(supervision, Reflect.apply(derive, this, given), `what \`${name}\` returns`);
    };
  }
  const copy = Object.assign(Object.create(Object.getPrototypeOf(model)), model, overrides);
  judges.set(copy, new Set([...(judges.get(model) ?? []), supervision]));
  return copy;
};

/**
 * Returns the same chat model of LangChain, which is called only when the harness allows it (AHP 2.4): `pre_prompt` before each call, with its
 * messages and the names of its tools, `post_response` after it, also when its stream ends early. A call that does not happen
 * rejects with a `SupervisionError`. The harness may leave messages out or change their content; any other change is refused.
 *
 * Give it to an agent or a node in the model's place; what `bindTools`, `withConfig` and `withStructuredOutput` return is supervised too. A
 * runnable that holds models (a binding, a sequence) has each of them supervised.
 *
 * Throws `invalid_argument` for options that cannot be used, and for a runnable in which no chat model can be seen, such as a lambda; so do
 * the methods that return one.
 */
export const superviseModel = <T extends object>(
  model: T,
  client: SupervisingClient,
  options: SupervisionOptions = {},
): T => supervised(new Supervision(client, options), model, "the model") as T;
