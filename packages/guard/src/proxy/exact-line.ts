import type { JsonObject } from "@harnesskit/protocol/envelope";
import { JsonLine } from "@harnesskit/wire";
import { memberNames } from "@harnesskit/wire/json";
import { type RpcMessage, readRpc } from "./rpc-message.ts";

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
  const kept = members.filter((name) => Object.hasOwn(message, name)).map((name) => [name, message[name]]);
  const plain = Object.fromEntries(kept) as JsonObject;
  return { message: plain, line: exactLine(plain) };
};
