import type { Tool, ToolExecutionOptions, ToolSet } from "ai";
import { superviseCall } from "../supervise/supervise-call.ts";
import { Supervision } from "../supervise/supervision.ts";
import type { SupervisingClient, SupervisionOptions } from "../supervise/supervision-options.ts";
import { validateArguments } from "./tool-schema.ts";

type Execute = NonNullable<Tool["execute"]>;

const isGenerator = (execute: Execute): boolean =>
  Object.prototype.toString.call(execute) === "[object AsyncGeneratorFunction]";

/** The tool's own `needsApproval`, as a function of the arguments. */
const approvalOf = ({ needsApproval: needs }: Tool, options: ToolExecutionOptions) => {
  if (typeof needs !== "function") return needs === true ? () => true : undefined;
  const { toolCallId, messages, experimental_context } = options;
  return (input: unknown) => needs(input as never, { toolCallId, messages, experimental_context });
};

/** The tool's own `execute`, behind the supervision. One that streams its output still does. */
const supervisedExecute = (supervision: Supervision, toolName: string, tool: Tool): Execute => {
  const execute = tool.execute as Execute;
  const outputs = (input: unknown, options: ToolExecutionOptions) =>
    superviseCall(
      supervision,
      {
        toolName,
        toolCallId: options.toolCallId,
        input,
        signal: options.abortSignal,
        validate: (value) => validateArguments(tool, value),
        needsApproval: approvalOf(tool, options),
      },
      (judged) => Reflect.apply(execute, tool, [judged, options]),
    );
  if (isGenerator(execute)) return outputs;
  return async (input: unknown, options: ToolExecutionOptions) => {
    let last: unknown;
    for await (const output of outputs(input, options)) last = output;
    return last;
  };
};

const supervisedTool = (supervision: Supervision, toolName: string, tool: Tool): Tool => {
  if (typeof tool.execute !== "function") return tool;
  return Object.assign(Object.create(Object.getPrototypeOf(tool)), tool, {
    execute: supervisedExecute(supervision, toolName, tool),
    ...(supervision.options.approvals === "harness" && { needsApproval: undefined }),
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
  const supervision = new Supervision(client, options);
  const entries = Object.entries(tools) as [string, Tool][];
  return Object.fromEntries(
    entries.map(([name, tool]) => [name, supervisedTool(supervision, name, tool)]),
  ) as T;
};
