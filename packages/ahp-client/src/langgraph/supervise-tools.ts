import { randomId } from "@harnesskit/wire";
import type { SupervisingClient, SupervisionOptions } from "../supervise/supervision-options.ts";
import { createSupervisor, type Supervisor } from "../supervise/supervisor.ts";

/** What is used of a tool of LangChain: those of `tool()`, and of classes over `StructuredTool`. */
export interface LangChainTool {
  readonly name: string;
  readonly schema?: unknown;
}

/** The part of a tool that its class keeps to itself. */
interface Callable {
  _call(input: unknown, runManager?: unknown, config?: unknown): Promise<unknown>;
}

/** A tool without `_call`, such as what `runnable.asTool()` returns. */
interface Invocable {
  invoke(input: unknown, config?: unknown): Promise<unknown>;
}

interface RequestedCall {
  readonly id?: string;
  readonly args: unknown;
}

interface CallConfig {
  readonly signal?: AbortSignal;
  readonly toolCall?: { readonly id?: string };
}

const isCallable = (tool: object): tool is Callable =>
  typeof (tool as Partial<Callable>)._call === "function";

const isInvocable = (tool: object): tool is Invocable =>
  typeof (tool as Partial<Invocable>).invoke === "function";

/** A model's call of a tool, which LangChain gives to `invoke` in place of the arguments. */
const isRequestedCall = (input: unknown): input is RequestedCall =>
  typeof input === "object" && input !== null && (input as { type?: unknown }).type === "tool_call";

const runOf = (name: string, input: unknown, id: string | undefined, { signal }: CallConfig) => ({
  ...{ name, input, callId: id ?? randomId("call") },
  signal,
});

const supervisedCallable = <T extends LangChainTool & Callable>(supervisor: Supervisor, tool: T): T => {
  const { name, schema } = tool;
  return Object.assign(Object.create(Object.getPrototypeOf(tool)), tool, {
    // LangChain has validated the input, made its callbacks, and makes a message of what this returns or throws.
    _call: (input: unknown, runManager?: unknown, config: CallConfig = {}) =>
      supervisor.runTool({
        ...runOf(name, input, config.toolCall?.id, config),
        schema: typeof schema === "object" && schema !== null ? schema : undefined,
        run: (allowed) => tool._call(allowed, runManager, config),
      }),
  });
};

/** The prototype of all runnables: each of its methods comes down to `invoke`. Undefined for what is not a runnable. */
const runnableBase = (tool: object): object | undefined => {
  let base: object | undefined;
  for (let each: object | null = tool; each !== null; each = Object.getPrototypeOf(each)) {
    if (Object.hasOwn(each, "pipe") && Object.hasOwn(each, "withConfig")) base = each;
  }
  return base;
};

const supervisedInvocable = <T extends LangChainTool & Invocable>(supervisor: Supervisor, tool: T): T => {
  const base = runnableBase(tool);
  const { name } = tool;
  // A class may stream or batch by what it holds, past `invoke`: of a runnable only the methods of the base are kept.
  const { bound, ...own } = tool as T & { bound?: unknown };
  const copy =
    base === undefined
      ? Object.assign(Object.create(Object.getPrototypeOf(tool)), tool)
      : Object.assign(Object.create(base), own, { constructor: tool.constructor });
  return Object.assign(copy, {
    // The tool itself reads a model's arguments with its schema, also those that the harness changed.
    invoke: async (input: unknown, config: CallConfig = {}) => {
      const requested = isRequestedCall(input) ? input : undefined;
      return supervisor.runTool({
        ...runOf(name, requested ? requested.args : input, requested?.id ?? config.toolCall?.id, config),
        run: (allowed) => tool.invoke(requested ? { ...requested, args: allowed } : allowed, config),
      });
    },
  });
};

const supervised = <T extends LangChainTool>(supervisor: Supervisor, tool: T): T => {
  if (isCallable(tool)) return supervisedCallable(supervisor, tool);
  return isInvocable(tool) ? supervisedInvocable(supervisor, tool) : tool;
};

/**
 * Returns the same tools of LangChain, each of which runs only when the harness allows it (AHP 2.4, `pre_action`), with the arguments that
 * were judged, and reports how it went (`post_action`). A call that does not run rejects with a `SupervisionError`; `ToolNode` makes a message for the
 * model of it. What is wrapped is `_call`, or `invoke` where there is none (`runnable.asTool()`); tools with neither run at a provider, and are passed on
 * as they are.
 *
 * Throws `invalid_argument` for options that cannot be used.
 */
export const superviseTools = <const T extends readonly LangChainTool[]>(
  tools: T,
  client: SupervisingClient,
  options: SupervisionOptions = {},
): T => {
  const supervisor = createSupervisor(client, options);
  return tools.map((tool) => supervised(supervisor, tool)) as unknown as T;
};
