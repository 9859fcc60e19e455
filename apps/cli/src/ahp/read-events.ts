import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { HookError, readHook } from "@harnesskit/agent-hooks";
import { acpEvent, isAcpMethod, readAcp } from "@harnesskit/agent-hooks/acp";
import { sha256Digest } from "@harnesskit/node-kit";
import { type AhpEvent, AhpEventSchema, type AhpEventType, ahpEvents } from "@harnesskit/protocol/ahp";
import { JsonObjectSchema } from "@harnesskit/protocol/envelope";
import { defaultWireLimits } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { usageError } from "../cli-error.ts";
import { hostOf } from "../guard/guard-context.ts";
import { fromHere, io } from "../io.ts";

/** An event that may lack what can be filled in. */
export type DraftEvent = Partial<AhpEvent> & Pick<AhpEvent, "event_type">;

const maxBytes = defaultWireLimits.maxFrameBytes;

const example = `For example: {"event_type":"pre_action","payload":{"tool_name":"bash"}}`;

const readAll = async (stream: Readable, name: string): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw usageError(`${name} has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
};

/** The text of a file, or of standard input for `-`. Throws a usage error for what cannot be read. */
const readFileOrStdin = async (file: string): Promise<string> => {
  if (file === "-") return readAll(io().stdin, "Standard input");
  const found = await stat(fromHere(file)).catch(() => undefined);
  if (!found)
    throw usageError(`${file} does not exist`, "Name a file that is there, or - for standard input");
  if (found.isDirectory()) throw usageError(`${file} is a directory`);
  return readAll(createReadStream(fromHere(file)), file);
};

const placeText = (path: readonly PropertyKey[]): string =>
  path.length === 0 ? "" : ` at ${path.map(String).join(".")}`;

interface Parsed {
  readonly success: boolean;
  readonly error?: {
    readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
  };
}

const assertParsed = ({ error }: Parsed, what: string): void => {
  const issue = error?.issues[0];
  if (issue) throw usageError(`${what}${placeText(issue.path)}: ${issue.message}`);
};

const filler = { session_id: "s", agent_id: "a", timestamp: "2026-01-01T00:00:00Z", depth: 0, payload: {} };

const toEvent = (value: unknown, what: string): DraftEvent => {
  const type = isObject(value) ? value.event_type : undefined;
  if (!isObject(value) || typeof type !== "string") throw usageError(`${what} has no event_type`, example);
  if (!Object.hasOwn(ahpEvents, type)) {
    throw usageError(`${what}: there is no event ${type}`, `There are ${Object.keys(ahpEvents).join(", ")}`);
  }
  if ("query_type" in value) {
    throw usageError(
      `${what} has both an event_type and a query_type`,
      "Leave out the one that is not meant",
    );
  }
  assertParsed(AhpEventSchema.safeParse({ ...filler, ...value }), what);
  const payload = value.payload ?? filler.payload;
  assertParsed(ahpEvents[type as AhpEventType].payload.safeParse(payload), `${what}: the payload of ${type}`);
  return { ...value, payload } as DraftEvent;
};

const toBatch = (values: readonly unknown[]): readonly DraftEvent[] => {
  if (values.length === 0) throw usageError("The batch is empty", example);
  const events = values.map((value, index) => toEvent(value, `Event ${index} of the batch`));
  const odd = events.find(({ event_type: type }) => !ahpEvents[type].batchable);
  if (odd) throw usageError(`${odd.event_type} has a decision of its own, and cannot stand in a batch`);
  return events;
};

/** The events of a file, or of standard input for `-`: one, or an array. Throws a usage error for what is no event. */
export const readEvents = async (file: string): Promise<readonly DraftEvent[]> => {
  const text = await readFileOrStdin(file);
  let value: unknown;
  try {
    value = JSON.parse(text) as unknown;
  } catch {
    throw usageError(`${file === "-" ? "Standard input" : file} is not JSON`, example);
  }
  return Array.isArray(value) ? toBatch(value) : [toEvent(value, "The event")];
};

/** `acp`, or `acp:NAME` with the name in the agent's `agentInfo`. */
const acp = /^acp(?::(.+))?$/;

const readRequest = (text: string, agent: string | undefined, name: string): AhpEvent => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  const parsed = JsonObjectSchema.safeParse(value);
  if (!parsed.success) throw usageError(`${name}: not a message of ACP: it must be a JSON object`);
  const { method, params } = parsed.data;
  if (!isAcpMethod(method)) {
    throw usageError(`${name}: no policy is asked about ${JSON.stringify(method ?? null)}`);
  }
  return acpEvent(readAcp(method, params, { workspace: io().cwd(), agent, digest: sha256Digest }));
};

/**
 * The event of what a coding agent writes to a hook, or asks an editor for over ACP, in the working directory. Throws a usage error for what the
 * agent does not write, and for what no policy is asked about.
 */
export const readHookEvent = async (file: string, agent: string): Promise<AhpEvent> => {
  const match = acp.exec(agent);
  const host = match ? undefined : hostOf(agent);
  const text = await readFileOrStdin(file);
  const name = file === "-" ? "Standard input" : file;
  try {
    if (!host) return readRequest(text, match?.[1], name);
    const { event, hookEvent } = readHook(host, text, { workspace: io().cwd() });
    if (event) return event;
    throw usageError(`${name}: no policy is asked about ${hookEvent}`);
  } catch (error) {
    if (HookError.isInstance(error)) throw usageError(`${name}: ${error.message}`);
    throw error;
  }
};
