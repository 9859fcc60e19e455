import type { Tool, ToolExecutionOptions, ToolSet } from "ai";
import type { SupervisingClient, SupervisionOptions } from "../supervise/supervision-options.ts";
import { createSupervisor, type Supervisor } from "../supervise/supervisor.ts";
import { schemaOf } from "./tool-schema.ts";

type Execute = NonNullable<Tool["execute"]>;

const isGenerator = (execute: Execute): boolean =>
  Object.prototype.toString.call(execute) === "[object AsyncGeneratorFunction]";

const isIterable = (value: unknown): value is AsyncIterable<unknown> =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

/** A tool's stream, which runs as it is read. */
const readOf = async function* (output: AsyncIterable<unknown>) {
  yield* output;
};

/** The tool's own `needsApproval`, as a function of the arguments. */
const approvalOf = ({ needsApproval: needs }: Tool, options: ToolExecutionOptions) => {
  if (typeof needs !== "function") return needs === true;
  const { toolCallId, messages, experimental_context } = options;
  return (input: unknown) => needs(input as never, { toolCallId, messages, experimental_context });
};

/** The tool's own `execute`, behind the supervision. One that streams its output still does. */
const supervisedExecute = (supervisor: Supervisor, name: string, tool: Tool): Execute => {
  const execute = tool.execute as Execute;
  const runTool = (input: unknown, options: ToolExecutionOptions): Promise<unknown> =>
    supervisor.runTool<unknown>({
      ...{ name, input, callId: options.toolCallId, signal: options.abortSignal },
      schema: schemaOf(tool),
      needsApproval: approvalOf(tool, options),
      run: (judged) => {
        const output: unknown = Reflect.apply(execute, tool, [judged, options]);
        return isIterable(output) ? readOf(output) : output;
      },
    });
  if (isGenerator(execute))
    return async function* (input: unknown, options: ToolExecutionOptions) {
      yield* (await runTool(input, options)) as AsyncIterable<unknown>;
    };
  return async (input: unknown, options: ToolExecutionOptions) => {
    const output = await runTool(input, options);
    if (!isIterable(output)) return output;
    let last: unknown;
    for await (const each of output) last = each;
    return last;
  };
};

const supervisedTool = (
  supervisor: Supervisor,
  name: string,
  tool: Tool,
  { approvals = "harness" }: SupervisionOptions,
): Tool => {
  if (typeof tool.execute !== "function") return tool;
  return Object.assign(Object.create(Object.getPrototypeOf(tool)), tool, {
    execute: supervisedExecute(supervisor, name, tool),
    ...(approvals === "harness" && { needsApproval: undefined }),
  });
};

/**
 * Returns the same tools, each of which runs only when the harness allows it (AHP 2.4, `pre_action`), with the arguments
 * that were judged, and reports how it went (`post_action`). A call that does not run rejects with a `SupervisionError`,
 * which the AI SDK hands to the model as the tool's error. What is wrapped is `execute`: tools without one, which a
 * client or the provider runs, are passed on as they are, and so are the callbacks `onInputStart`, `onInputDelta` and
 * `onInputAvailable`.
 *
 * After the tool's schema the arguments must be JSON, except for Dates. A tool that streams its output must
 * be an `async function*`; of another one that returns an iterable only the last output arrives.
 *
 * Throws `invalid_argument` for options that cannot be used.
 */
export const superviseTools = <T extends ToolSet>(
  tools: T,
  client: SupervisingClient,
  options: SupervisionOptions = {},
): T => {
  const supervisor = createSupervisor(client, options);
  const entries = Object.entries(tools) as [string, Tool][];
  return Object.fromEntries(
    entries.map(([name, tool]) => [name, supervisedTool(supervisor, name, tool, options)]),
  ) as T;
};
