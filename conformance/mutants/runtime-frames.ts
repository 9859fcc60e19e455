import { randomUUID } from "node:crypto";
import type { Socket } from "node:net";

/** A message as these peers handle it: nothing about it is known. */
// biome-ignore lint/suspicious/noExplicitAny: a mutant may change anything of it.
export type Message = any;

/** What a mutant of a reference peer does differently; nothing: the reference itself. */
export interface RuntimeDeviation {
  /** Rules that are not followed. */
  readonly skip?: string;
  /** Changes each message before it is sent; undefined: it is not sent. */
  readonly send?: (message: Message) => Message;
  /** Changes what the driver gives. */
  readonly give?: (given: Message, operation: string) => Message;
}

export const envelopeOf = (type: string, payload: object, more: object = {}): Message => ({
  v: 1,
  type,
  id: randomUUID(),
  ts: new Date().toISOString(),
  payload,
  ...more,
});

/** The ids that what belongs to a call repeats. */
export const linksOf = ({ request_id, correlation_id, causation_id }: Message): object =>
  Object.fromEntries(
    Object.entries({ request_id, correlation_id, causation_id }).filter(([, id]) => id !== undefined),
  );

/** Writes a message as a frame; returns whether it fits. */
export const writeMessage = (
  socket: Socket,
  message: Message,
  { send, skip }: RuntimeDeviation,
  maxFrameBytes = Number.POSITIVE_INFINITY,
): boolean => {
  const changed = send ? send(message) : message;
  if (changed === undefined) return true;
  const text = JSON.stringify(changed);
  const bytes = Buffer.from(text);
  if (bytes.length > maxFrameBytes) return false;
  const header = Buffer.alloc(4);
  header.writeUInt32BE(skip === "bytes" ? text.length : bytes.length);
  socket.write(Buffer.concat([header, bytes]));
  return true;
};

/** Cuts what arrives into frames. `onMessage` gets undefined for what is not a JSON object in UTF-8. */
export const readMessages = (
  socket: Socket,
  maxFrameBytes: number,
  skips: (rule: string) => boolean,
  onMessage: (message: Message) => void,
  onOversize: () => void,
): void => {
  let rest = Buffer.alloc(0);
  socket.on("error", () => {});
  socket.on("data", (chunk: Buffer) => {
    rest = skips("pieces") ? Buffer.from(chunk) : Buffer.concat([rest, chunk]);
    while (rest.length >= 4) {
      const size = rest.readUInt32BE();
      if (size > (skips("low-limit") ? maxFrameBytes / 4 : maxFrameBytes) && !skips("oversize")) {
        rest = Buffer.alloc(0);
        onOversize();
        return;
      }
      if (rest.length < 4 + size) return;
      const content = rest.subarray(4, 4 + size);
      rest = skips("merged") ? Buffer.alloc(0) : rest.subarray(4 + size);
      let message: Message;
      try {
        const text = skips("utf8")
          ? content.toString("latin1")
          : new TextDecoder("utf-8", { fatal: true }).decode(content);
        message = JSON.parse(text);
      } catch {
        message = undefined;
      }
      const isObject = typeof message === "object" && message !== null && !Array.isArray(message);
      onMessage(isObject ? message : undefined);
    }
  });
};

const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/i;

/** Whether a message has a valid envelope. Optional members that are null are taken away. */
export const hasEnvelope = (message: Message, skips: (rule: string) => boolean): boolean => {
  if (message === undefined) return false;
  if (!skips("nulls"))
    for (const [key, value] of Object.entries(message)) if (value === null) delete message[key];
  if (skips("envelope")) return typeof message.type === "string";
  const { v, type, id, ts, payload } = message;
  const isTime = typeof ts === "string" && (skips("times") ? ts.endsWith("Z") : timePattern.test(ts));
  const isPayload = typeof payload === "object" && payload !== null && !Array.isArray(payload);
  const hasLinks = [message.in_reply_to, message.request_id].every((each) => each !== null);
  return (
    Number.isInteger(v) &&
    [type, id].every((each) => typeof each === "string" && each !== "") &&
    isTime &&
    isPayload &&
    hasLinks
  );
};

/** Members that a strict peer knows of a payload; anything else is refused where `unknown-fields` is skipped. */
export const hasOnly = (payload: object, ...names: string[]): boolean =>
  Object.keys(payload).every((name) => names.includes(name));

/** A small check of JSON Schema: types, required members, and no others where they are not allowed. */
export const fits = (value: Message, schema: Message): boolean => {
  const { type, properties = {}, required = [], additionalProperties } = schema;
  const is = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  if (type !== undefined && type !== is) return false;
  if (is !== "object") return true;
  return (
    required.every((name: string) => name in value) &&
    Object.entries(value).every(([name, each]) =>
      name in properties ? fits(each, properties[name]) : additionalProperties !== false,
    )
  );
};
