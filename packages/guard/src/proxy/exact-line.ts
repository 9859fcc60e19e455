import { FrameTooLargeError, type HarnessError, InvalidMessageError, JsonLine } from "@harnesskit/wire";
import { markNumbers, memberNames, unmarkNumbers } from "@harnesskit/wire/json";
import { isRpcId, type RpcId, type RpcMessage, readRpc } from "./rpc-message.ts";

const members = ["jsonrpc", "id", "method", "params", "result", "error"] as const;
const known: ReadonlySet<string> = new Set(members);

/** As readers do that do not tell cases apart: `Method`, and `paramſ`. */
const fold = (name: string): string => name.toUpperCase().toLowerCase();

/** What some readers take for the end of a line: CR, and the separators that JSON may have in its strings. */
const otherLineEnds = /[\r\u0085\u2028\u2029]/;
const escapedSeparators = (text: string): string =>
  text.replace(/[\u0085\u2028\u2029]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** A message as one line that every reader reads in the same way. */
export const exactLine = (message: RpcMessage): JsonLine =>
  new JsonLine(escapedSeparators(JSON.stringify(message)), message);

/** The line of what was parsed from marked JSON. */
const unmarkedLine = (marked: unknown): JsonLine => {
  const text = escapedSeparators(unmarkNumbers(JSON.stringify(marked)));
  return new JsonLine(text, JSON.parse(text));
};

/** A line with a change of its message, whose numbers keep their digits. */
export const editedLine = ({ text }: JsonLine, edit: (message: RpcMessage) => RpcMessage): JsonLine =>
  unmarkedLine(edit(JSON.parse(markNumbers(text)) as RpcMessage));

/** The messages of a batch, each in a line of its own; a line with one message is returned as it is. */
export const batchLines = (line: unknown): readonly unknown[] =>
  line instanceof JsonLine && Array.isArray(line.value)
    ? (JSON.parse(markNumbers(line.text)) as unknown[]).map(unmarkedLine)
    : [line];

const rpcVersion = String.raw`"jsonrpc"\s*:\s*"2\.0"`;
const rpcId = String.raw`"id"\s*:\s*(?<id>"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"|-?(?:0|[1-9]\d*))`;
/** A line begins with its id, or with what it is. */
const firstMembers = new RegExp(
  String.raw`^\s*\{\s*(?:(?:${rpcVersion}|${rpcId})\s*,\s*){0,2}"(?<kind>result|error|method)"\s*:`,
);
/** It ends with its id: behind nothing but the version, what is closed last is the message itself. */
const lastMembers = new RegExp(String.raw`,\s*${rpcId}\s*(?:,\s*${rpcVersion}\s*)?\}\s*$`);

/** Which request a line that was dropped is, or answers, where its ends tell. */
export const readDroppedLine = (
  error: HarnessError,
): { readonly id: RpcId; readonly isAnswer: boolean } | undefined => {
  const hasEnds = FrameTooLargeError.isInstance(error) || InvalidMessageError.isInstance(error);
  const ends = hasEnds ? error.ends : undefined;
  if (ends === undefined) return undefined;
  const first = firstMembers.exec(ends.first)?.groups;
  const id: unknown = JSON.parse(first?.id ?? lastMembers.exec(ends.last)?.groups?.id ?? "null");
  return first !== undefined && isRpcId(id) ? { id, isAnswer: first.kind !== "method" } : undefined;
};

const readsOneWay = (text: string): boolean => {
  if (otherLineEnds.test(text.endsWith("\r") ? text.slice(0, -1) : text)) return false;
  const seen = new Set<string>();
  return memberNames(text).every((name) => {
    const folded = fold(name);
    if (seen.has(folded) || (folded !== name && known.has(folded))) return false;
    seen.add(folded);
    return true;
  });
};

/**
 * The message of a line, and the line to pass on: as it came, if every reader sees the same message in it; else the message as it was read,
 * written anew. Undefined for what is not one message of JSON-RPC, batches among it.
 */
export const readExact = (
  line: unknown,
): { readonly message: RpcMessage; readonly line: JsonLine } | undefined => {
  if (!(line instanceof JsonLine)) return undefined;
  const message = readRpc(line.value);
  if (message === undefined) return undefined;
  if (readsOneWay(line.text)) return { message, line };
  const kept = (all: RpcMessage): RpcMessage =>
    Object.fromEntries(
      members.filter((name) => Object.hasOwn(all, name)).map((name) => [name, all[name]]),
    ) as RpcMessage;
  return { message: kept(message), line: editedLine(line, kept) };
};
