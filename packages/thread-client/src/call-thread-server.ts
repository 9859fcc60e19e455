import type { Params } from "@harnesskit/protocol/envelope";
import {
  type Event,
  type EventBody,
  type Thread,
  type ThreadMethodName,
  type ThreadMethodResult,
  type ThreadNotificationName,
  type ThreadNotificationParams,
  threadMethods,
  threadNotifications,
} from "@harnesskit/protocol/threads";
import { displayText } from "@harnesskit/wire";
import { isObject } from "@harnesskit/wire/json";
import type { SessionCallOptions } from "@harnesskit/wire/rpc";
import { withTraceMeta } from "@harnesskit/wire/trace";
import { MalformedMessageError, toThreadError } from "./errors.ts";

interface Issues {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
}

/** What all schemas have in common, without their differences in type. */
interface Schema {
  safeParse(value: unknown): { success: true; data: unknown } | { success: false; error: Issues };
}

const malformed = (method: string, error: Issues): MalformedMessageError => {
  const [issue] = error.issues;
  const place = issue?.path.map(String).join(".") ?? "";
  const text = `${place === "" ? "the message" : place}: ${issue?.message ?? "invalid"}`;
  return new MalformedMessageError(method, displayText(text, { maxLength: 300 }), { cause: error });
};

const checkResult = <M extends ThreadMethodName>(method: M, value: unknown): ThreadMethodResult<M> => {
  const schema: Schema = threadMethods[method].result;
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw malformed(method, parsed.error);
  return parsed.data as ThreadMethodResult<M>;
};

const isNotificationName = (name: unknown): name is ThreadNotificationName =>
  typeof name === "string" && Object.hasOwn(threadNotifications, name);

/** What a server tells: an event, or that a thread is gone with its log. */
export type Notification =
  | EventBody
  | { readonly type: "thread.deleted"; readonly data: ThreadNotificationParams<"thread.deleted"> };

/** Checks a notification. Undefined for one that this version does not know. Throws `invalid_message`. */
export const parseNotification = (name: string, params: Params | undefined): Notification | undefined => {
  if (!isNotificationName(name)) return undefined;
  const schema: Schema = threadNotifications[name];
  const parsed = schema.safeParse(params);
  if (!parsed.success) throw malformed(name, parsed.error);
  return { type: name, data: parsed.data } as Notification;
};

/** A thread with its events, or a page of them. */
export interface ThreadHistory {
  readonly thread: Thread;
  /** The events of types that this version knows, in order. */
  readonly events: readonly Event[];
  /** The number of the last event, known or not; 0 for an empty page. The next page follows with `afterSeq: lastSeq`. */
  readonly lastSeq: number;
  /** More events follow, with this `afterSeq`; only servers with the extension `paging` say so. */
  readonly nextAfterSeq?: number | undefined;
}

/** `thread.get` without the events of types that came after this version. */
const parseHistory = (value: unknown): ThreadHistory => {
  const { events } = isObject(value) ? value : {};
  const all: readonly unknown[] = Array.isArray(events) ? events : [];
  const isKnown = (event: unknown) =>
    !isObject(event) || typeof event.type !== "string" || isNotificationName(event.type);
  const known = all.every(isKnown) ? value : { ...(value as object), events: all.filter(isKnown) };
  const last = all.at(-1);
  const seq = isObject(last) && Number.isSafeInteger(last.seq) ? (last.seq as number) : 0;
  return { ...checkResult("thread.get", known), lastSeq: Math.max(0, seq) };
};

/** What the result of a method is read as. */
export type CallResult<M extends ThreadMethodName> = M extends "thread.get"
  ? ThreadHistory
  : ThreadMethodResult<M>;

/** Checks the result of a call. Throws `invalid_message`. */
const parseResult = <M extends ThreadMethodName>(method: M, value: unknown): CallResult<M> =>
  (method === "thread.get" ? parseHistory(value) : checkResult(method, value)) as CallResult<M>;

/** What a server says of itself. */
export type Initialized = ThreadMethodResult<"initialize">;

/** The params of a method; what is undefined in them is left out. */
export type Fields = Readonly<Record<string, unknown>>;

/** Where a method can be called: a connection, or a session. */
type Callable = {
  request(method: string, params: unknown, options?: SessionCallOptions): Promise<unknown>;
};

/** Calls a method and checks its result. Rejects with a `ThreadError`, and as the connection or session. */
export const callThreadServer = async <M extends ThreadMethodName>(
  server: Callable,
  method: M,
  params: Fields,
  options?: SessionCallOptions,
): Promise<CallResult<M>> => {
  const result = await server.request(method, withTraceMeta(params), options).catch((error: unknown) => {
    throw toThreadError(error);
  });
  return parseResult(method, result);
};
