import { ToolError } from "@harnesskit/agent-sdk";
import { displayPath } from "./file-errors.ts";

/** Whether bytes are taken for binary: text has no NUL. */
export const isBinary = (bytes: Uint8Array): boolean => bytes.includes(0);

/** `tool.binary_file` */
export const binaryError = (path: string): ToolError =>
  new ToolError("tool.binary_file", `${displayPath(path)} is a binary file`);

/** `tool.canceled` */
export const cancelledError = (): ToolError => new ToolError("tool.canceled", "the call was cancelled");

/** Throws `ToolError` `tool.canceled` once the signal is aborted. */
export function throwIfCancelled(signal: AbortSignal): void {
  if (signal.aborted) throw cancelledError();
}

/** The text of bytes that are UTF-8 without NUL, a byte order mark kept; undefined for other bytes. */
export function decodeExactly(bytes: Uint8Array): string | undefined {
  if (isBinary(bytes)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The largest `end` at or below the given one at which UTF-8 bytes can be cut without splitting a character. */
export function characterStart(bytes: Uint8Array, end: number): number {
  let cut = Math.min(end, bytes.length);
  if (cut === bytes.length) return cut;
  for (let steps = 0; steps < 3 && cut > 0 && isContinuation(bytes[cut]); steps++) cut--;
  return cut;
}

/** Whether a byte of UTF-8 goes on with a character that began before it. */
export const isContinuation = (byte: number | undefined): boolean =>
  byte !== undefined && (byte & 0xc0) === 0x80;

/** The first `maxLength` UTF-16 units of a string, with no character split, and `…` in place of the rest. */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const last = text.charCodeAt(maxLength - 1);
  const splitsPair = last >= 0xd800 && last <= 0xdbff;
  return `${text.slice(0, splitsPair ? maxLength - 1 : maxLength)}…`;
}

/** Whether each line of a text ends with CRLF. */
export const isCrlf = (text: string): boolean => text.includes("\r\n") && !/(?<!\r)\n/.test(text);

export const toCrlf = (text: string): string => text.replace(/(?<!\r)\n/g, "\r\n");
