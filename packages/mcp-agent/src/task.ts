import { displayText } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { backoffDelayMs, wait } from "@harnesskit/wire/time";
import { ToolError } from "@harnesskit/wire/tool";
import { type CallToolResult, type Client, ProtocolError } from "@modelcontextprotocol/client";
import * as z from "zod";
import { isPassing, lateCall } from "./call-result.ts";
import type { ServerToolOptions } from "./call-server-tool.ts";
import { carriedResult, readToolResult, repairedError } from "./read-message.ts";
import type { Secrets } from "./secrets.ts";

const maxNamed = 3;

const inputText = (request: unknown): string => {
  const { method, params } = isObject(request) ? request : {};
  const message = isObject(params) && typeof params.message === "string" ? `: ${params.message}` : "";
  return displayText(`${typeof method === "string" ? method : "unknown"}${message}`, { maxLength: 300 });
};

/** The end of a call in which the server asks for what this agent cannot give: an answer of a human, a model or a client. */
export const inputRequired = (requests: unknown, secrets: Secrets): ToolError => {
  const asked = isObject(requests) ? Object.values(requests) : [];
  const named = asked.slice(0, maxNamed).map(inputText).join("; ") || "of a kind that it does not name";
  const more = asked.length > maxNamed ? ` (and ${asked.length - maxNamed} more)` : "";
  return new ToolError(
    "mcp.input_required",
    `the MCP server needs input to go on, which this agent cannot give: ${secrets.redact(named)}${more}`,
  );
};

/** A task of 2025-11-25, or of the extension `io.modelcontextprotocol/tasks` of 2026-07-28, which has its result in it. */
const TaskSchema = z.looseObject({
  taskId: z.string(),
  status: z.string(),
  statusMessage: z.string().nullish(),
  lastUpdatedAt: z.string().nullish(),
  pollInterval: z.number().nullish(),
  pollIntervalMs: z.number().nullish(),
  inputRequests: z.unknown().optional(),
  result: z.unknown().optional(),
  error: z.unknown().optional(),
});
type Task = z.infer<typeof TaskSchema>;

/** The times between two questions after a task, whatever the server says. */
const pollMs = { default: 1000, min: 100, max: 60_000 };
const cancelTimeoutMs = 5000;
/** Questions after a task that fail in a row, after which it is given up. */
const maxFailures = 8;
const ended: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

/** The task that the server started in place of a result; undefined if the answer is a result. */
export const readTask = (answer: unknown): Task | undefined => {
  if (!isObject(answer)) return undefined;
  if (answer.resultType === "task") return TaskSchema.parse(answer);
  return isObject(answer.task) && answer.content === undefined ? TaskSchema.parse(answer.task) : undefined;
};

const pollDelayMs = ({ pollIntervalMs, pollInterval }: Task): number =>
  Math.min(pollMs.max, Math.max(pollMs.min, pollIntervalMs ?? pollInterval ?? pollMs.default));

const stateOf = ({ status, statusMessage, lastUpdatedAt }: Task): string =>
  JSON.stringify([status, statusMessage, lastUpdatedAt]);

const anything = z.unknown();

/**
 * The result of a task when it has ended: asked for as often as the server says, and again where that fails in passing. A task that stands
 * still for `callTimeoutMs`, needs input or is not waited for any more is cancelled; its call's own time ends it, too, by the signal.
 * Rejects as a call does.
 */
export const endOfTask = async (
  client: Client,
  begun: Task,
  { times, secrets, clock, signal, onStatus }: ServerToolOptions,
): Promise<CallToolResult> => {
  const { taskId } = begun;
  const ask = async (method: string, timeout: number, options = {}): Promise<unknown> => {
    const request = { method, params: { taskId } };
    return carriedResult(await client.request(request, anything, { timeout, ...options }));
  };
  const backoff = { initialDelayMs: times.initialBackoffMs, maxDelayMs: times.maxBackoffMs };
  let task = begun;
  let failures = 0;
  const next = async (): Promise<Task | undefined> => {
    try {
      const answer = TaskSchema.parse(await ask("tasks/get", times.listTimeoutMs, { signal }));
      failures = 0;
      return answer;
    } catch (error) {
      if (signal.aborted || !isPassing(error) || ++failures === maxFailures) throw error;
      return undefined;
    }
  };
  try {
    let movedAt = clock.elapsedMs();
    while (!ended.has(task.status)) {
      if (task.status === "input_required") throw inputRequired(task.inputRequests, secrets);
      const left = movedAt + times.callTimeoutMs - clock.elapsedMs();
      if (left <= 0) throw lateCall(times.callTimeoutMs);
      const delayMs = failures === 0 ? 0 : backoffDelayMs(failures, backoff);
      await wait(Math.min(Math.max(pollDelayMs(task), delayMs), left), clock, signal);
      signal.throwIfAborted();
      const found = (await next()) ?? task;
      if (stateOf(found) !== stateOf(task)) movedAt = clock.elapsedMs();
      if (found.statusMessage && found.statusMessage !== task.statusMessage) onStatus(found.statusMessage);
      task = found;
    }
  } catch (error) {
    void ask("tasks/cancel", cancelTimeoutMs).catch(() => {});
    throw error;
  }
  if (client.getProtocolEra() === "legacy")
    return readToolResult(await ask("tasks/result", times.callTimeoutMs, { signal }));
  if (task.status === "completed") return readToolResult(task.result);
  const { code, message, data } = repairedError(task.error ?? `the task was ${task.status}`);
  throw ProtocolError.fromError(code, message, data);
};
