import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { type AhpEvent, AhpEventSchema, type AhpEventType, ahpEvents } from "@harnesskit/protocol/ahp";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { defaultWireLimits } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import { usageError } from "../cli-error.ts";
import { oneLine } from "../terminal/text.ts";

/** What is sent, with its sender if the file names one. */
export type Message =
  | { readonly kind: "event"; readonly event: DraftEvent }
  | { readonly kind: "batch"; readonly events: readonly DraftEvent[] }
  | { readonly kind: "query"; readonly query: DraftQuery };

/** An event that may lack what can be filled in. */
export type DraftEvent = Partial<AhpEvent> & Pick<AhpEvent, "event_type">;

export interface DraftQuery {
  readonly query_type: string;
  readonly payload: string | JsonObject;
  readonly session_id?: string;
  readonly agent_id?: string;
}

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
export const readFileOrStdin = async (file: string): Promise<string> => {
  if (file === "-") return readAll(process.stdin, "Standard input");
  const name = oneLine(file);
  const found = await stat(file).catch(() => undefined);
  if (!found) throw usageError(`${name} is not there`);
  if (found.isDirectory()) throw usageError(`${name} is a directory`);
  return readAll(createReadStream(file), name);
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
  if (issue) throw usageError(`${what}${oneLine(placeText(issue.path))}: ${oneLine(issue.message)}`);
};

const filler = { session_id: "s", agent_id: "a", timestamp: "2026-01-01T00:00:00Z", depth: 0, payload: {} };

const toEvent = (value: unknown, what: string): DraftEvent => {
  const type = isObject(value) ? value.event_type : undefined;
  if (!isObject(value) || typeof type !== "string") throw usageError(`${what} has no event_type`, example);
  if (!Object.hasOwn(ahpEvents, type)) {
    throw usageError(
      `${what}: there is no event ${oneLine(type, 80)}`,
      `There are ${Object.keys(ahpEvents).join(", ")}`,
    );
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

const toDraftQuery = (value: Record<string, unknown>): DraftQuery => {
  const { query_type: type, payload = {}, session_id: session, agent_id: agent } = value;
  const areNames = [session, agent].every((name) => name === undefined || typeof name === "string");
  if (typeof type === "string" && (typeof payload === "string" || isObject(payload)) && areNames) {
    return { ...value, query_type: type, payload } as DraftQuery;
  }
  throw usageError("A query has a query_type, and a payload that is an object or a string");
};

/** Reads a file, or standard input for `-`. Throws a usage error for what no harness could be sent. */
export const readMessage = async (file: string): Promise<Message> => {
  const text = await readFileOrStdin(file);
  let value: unknown;
  try {
    value = JSON.parse(text) as unknown;
  } catch {
    throw usageError(`${file === "-" ? "Standard input" : oneLine(file)} is not JSON`, example);
  }
  if (Array.isArray(value)) return { kind: "batch", events: toBatch(value) };
  if (isObject(value) && "query_type" in value && !("event_type" in value)) {
    return { kind: "query", query: toDraftQuery(value) };
  }
  return { kind: "event", event: toEvent(value, "The event") };
};
