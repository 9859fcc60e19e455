import type { JsonObject, JsonValue } from "@harnesskit/protocol/envelope";
import { displayText, jsonDifference, randomId } from "@harnesskit/wire";
import { defined, JsonError, utf8Length } from "@harnesskit/wire/json";
import { describeLeftover, leftoverOf, readModification } from "../modification.ts";
import { clip } from "./clip.ts";
import { type ConfirmRequest, confirm } from "./confirm.ts";
import { type Judged, judge } from "./judge.ts";
import { judgedCopy } from "./judged-copy.ts";
import { isAsyncIterator, reportedIterator } from "./reported-iterator.ts";
import type { Supervision } from "./supervision.ts";
import { SupervisionError } from "./supervision-error.ts";
import { validateWith } from "./validation.ts";

/** One call of a tool. */
export interface ToolRun<T> {
  readonly name: string;
  /** The call's id, where the framework has one. @default random */
  readonly callId?: string | undefined;
  /** JSON, except for Dates. */
  readonly input: unknown;
  /** A Standard Schema (zod, Valibot …) or a JSON Schema: arguments that the harness changes are read with it. @default they are taken as they are */
  readonly schema?: object | undefined;
  /** Whether a person must approve these arguments. @default no */
  readonly needsApproval?: boolean | ((input: unknown) => boolean | PromiseLike<boolean>) | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Runs the tool with what was judged. */
  readonly run: (input: unknown) => T | PromiseLike<T>;
}

/** A tool's arguments, and the JSON that says all of them. No other code holds `input`. */
interface Arguments {
  readonly input: unknown;
  readonly text: string;
}

/** As `Supervisor.runTool`. */
export const runTool = async <T>(supervision: Supervision, call: ToolRun<T>): Promise<T> => {
  const { name, callId = randomId("call"), signal, run } = call;
  const { input, wasModified } = await allowedInput(supervision, call, callId);
  const report = supervision.startReport(
    "post_action",
    defined({
      action_type: "tool_call",
      tool_name: name,
      tool_call_id: callId,
      arguments_modified: wasModified || undefined,
    }),
  );
  const reports = {
    succeeded: (result: unknown) =>
      report("success", resultFields(result, supervision.limits.maxReportTextBytes)),
    failed: (error: unknown) => report(signal?.aborted ? "cancelled" : "error", {}, error),
    cancelled: () => report("cancelled"),
  };
  try {
    const output = await run(input);
    if (isAsyncIterator(output)) return reportedIterator(output, reports);
    reports.succeeded(output);
    return output;
  } catch (error) {
    reports.failed(error);
    throw error;
  }
};

const resultFields = (result: unknown, maxBytes: number): JsonObject => {
  try {
    const text = typeof result === "string" ? result : JSON.stringify(result);
    return text === undefined ? {} : { result: clip(text, maxBytes) };
  } catch {
    // What has no JSON is not reported.
    return {};
  }
};

/** What may run. Rejects with a {@link SupervisionError}. */
const allowedInput = async <T>(
  supervision: Supervision,
  call: ToolRun<T>,
  callId: string,
): Promise<{ readonly input: unknown; readonly wasModified: boolean }> => {
  const { name: toolName, input, signal } = call;
  const maxBytes = supervision.limits.maxEventTextBytes;
  const judged = toJudged(call, callId, maxBytes);
  const first = toArguments(toolName, input, maxBytes);
  const { value, wasModified, wasConfirmed } = await judge(supervision, judged, first, signal);
  const isOurs = supervision.options.approvals === "harness" || wasModified;
  if (isOurs && !wasConfirmed && (await needsApproval(call, value))) {
    const request: ConfirmRequest = {
      eventType: "pre_action",
      confirmationType: "user_confirm",
      toolName,
      toolCallId: callId,
      reason: "the tool needs approval",
      message: judged.toMessage(value),
      payload: judged.toPayload(value),
    };
    await confirm(supervision, request, signal);
  }
  if (!signal?.aborted) return { input: value.input, wasModified };
  throw new SupervisionError("cancelled", "its caller gave it up", { eventType: "pre_action", toolName });
};

/** Any answer but false means yes. */
const needsApproval = async <T>({ needsApproval: needs, name }: ToolRun<T>, value: Arguments) => {
  if (typeof needs !== "function") return needs === true;
  try {
    // It gets a copy of its own, so that it cannot change what was judged.
    return (await needs(judgedCopy(value.input))) !== false;
  } catch (cause) {
    const details = { eventType: "pre_action", toolName: name, cause } as const;
    throw new SupervisionError("unavailable", "it is unknown whether it needs approval", details);
  }
};

/** The arguments as they can be judged. Throws `unjudgeable` where the harness could not be shown all of them. */
const toArguments = (toolName: string, given: unknown, maxBytes: number): Arguments => {
  const details = { eventType: "pre_action", toolName } as const;
  let input: unknown;
  try {
    input = judgedCopy(given);
  } catch (cause) {
    const message = JsonError.isInstance(cause) ? cause.message : "they cannot be read";
    throw new SupervisionError("unjudgeable", `the arguments: ${message}`, { ...details, cause });
  }
  const text = JSON.stringify(input) ?? "null";
  if (utf8Length(text) <= maxBytes) return { input, text };
  const reason = `the arguments have more than the ${maxBytes} bytes that an event may hold`;
  throw new SupervisionError("unjudgeable", reason, details);
};

/** How the call of a tool is judged: by all of its arguments, as they run. */
const toJudged = <T>({ name, schema }: ToolRun<T>, callId: string, maxBytes: number): Judged<Arguments> => {
  const refuse = (reason: string) =>
    new SupervisionError("invalid_modification", reason, { eventType: "pre_action", toolName: name });
  const toPayload = ({ text }: Arguments): JsonObject => ({
    action_type: "tool_call",
    tool_name: name,
    tool_call_id: callId,
    arguments: JSON.parse(text) as JsonValue,
  });
  return {
    eventType: "pre_action",
    toolName: name,
    toolCallId: callId,
    toMessage: ({ text }) => toToolQuestion(name, JSON.parse(text)),
    toPayload,
    async modify(value, modified) {
      const change = readModification(toPayload(value), modified, "arguments");
      if ("leftover" in change) throw refuse(describeLeftover(change.leftover, "arguments"));
      const { wanted } = change;
      if (!jsonDifference(wanted, JSON.parse(value.text))) return value;
      const validated = schema === undefined ? { value: wanted } : await validateWith(schema, wanted);
      if ("problem" in validated)
        throw refuse(`its arguments do not fit the tool's schema: ${validated.problem}`);
      const next = toArguments(name, validated.value, maxBytes);
      const leftover = leftoverOf(modified, toPayload(next));
      if (leftover) throw refuse(`by the tool's schema ${describeLeftover(leftover, "arguments")}`);
      return next;
    },
  };
};

/** JSON as lines that hide nothing. */
export const jsonLines = (value: unknown): string =>
  displayText(JSON.stringify(value, undefined, 2) ?? "nothing", {
    multiline: true,
    maxLength: Number.POSITIVE_INFINITY,
  });

/** All that would run, for a person. */
export const toToolQuestion = (name: string, input: unknown): string =>
  `Run the tool ${displayText(JSON.stringify(name))} with these arguments?\n${jsonLines(input)}`;
