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

interface CallConfig {
  readonly signal?: AbortSignal;
  readonly toolCall?: { readonly id?: string };
}

const isCallable = (tool: object): tool is Callable =>
  typeof (tool as Partial<Callable>)._call === "function";

const supervised = <T extends LangChainTool>(supervisor: Supervisor, tool: T): T => {
  if (!isCallable(tool)) return tool;
  const { name, schema } = tool;
  const judged: Callable = Object.assign(Object.create(Object.getPrototypeOf(tool)), tool, {
    // LangChain has validated the input, made its callbacks, and makes a message of what this returns or throws.
    _call: (input: unknown, runManager?: unknown, config: CallConfig = {}) =>
      supervisor.runTool({
        ...{ name, input, callId: config.toolCall?.id ?? randomId("call") },
        ...(typeof schema === "object" && schema !== null && { schema }),
        ...(config.signal !== undefined && { signal: config.signal }),
        run: (allowed) => tool._call(allowed, runManager, config),
      }),
  });
  return judged as unknown as T;
};

/**
 * Returns the same tools of LangChain, each of which runs only when the harness allows it (AHP 2.4, `pre_action`), with the arguments that
 * were judged, and reports how it went (`post_action`). A call that does not run rejects with a `SupervisionError`; `ToolNode` makes a message for the
 * model of it. What is wrapped is `_call`: tools that run at a provider are passed on as they are.
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
