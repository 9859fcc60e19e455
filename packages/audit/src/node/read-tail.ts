import type { FileHandle } from "node:fs/promises";
import { AuditError } from "../audit-error.ts";
import type { AuditHead } from "../audit-head.ts";
import { openingOf, parseLine } from "../parse-line.ts";

/** How a file of the log ends. */
export interface LogTail {
  /** The last seal, or what the file continues where it has none yet; undefined for a file without a whole line. */
  readonly head: AuditHead | undefined;
  /** Whole lines behind the seal. */
  readonly unsealed: Buffer;
  readonly unsealedLines: number;
  /** Where the last whole line ends. What is behind was not written to its end. */
  readonly endBytes: number;
  readonly isClosed: boolean;
}

const newline = 0x0a;
const firstWindowBytes = 256 * 1024;
/** No block is larger, nor what a writer leaves behind one. */
const maxWindowBytes = 16 * 1024 * 1024;

const readWhole = async (file: FileHandle, start: number, length: number): Promise<Buffer> => {
  const bytes = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(bytes, done, length - done, start + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
};

/** The last line that seals: where it is and its head. */
const lastSeal = (bytes: Buffer): { start: number; end: number; head: AuditHead } | undefined => {
  let end = bytes.lastIndexOf(newline);
  while (end > 0) {
    const start = bytes.lastIndexOf(newline, end - 1) + 1;
    const parsed = parseLine(bytes.subarray(start, end));
    if (parsed?.seal !== undefined) {
      return { start, end: end + 1, head: { seq: parsed.seq, hash: parsed.seal.hash } };
    }
    end = start - 1;
  }
  return undefined;
};

/** The whole lines that follow one another from a place on: how many, and where they end. */
const linesFrom = (bytes: Buffer, from: number, seq: number): { count: number; end: number } => {
  let count = 0;
  let end = from;
  for (let next = bytes.indexOf(newline, end); next !== -1; next = bytes.indexOf(newline, end)) {
    if (parseLine(bytes.subarray(end, next))?.seq !== seq + count + 1) break;
    count++;
    end = next + 1;
  }
  return { count, end };
};

const damaged = (): AuditError =>
  new AuditError(
    "audit_damaged",
    "the end of the log is not one that a writer left: verify it, move it away, and start again",
  );

/** Reads how a file ends, from its end. Throws `audit_damaged`. */
export const readTail = async (file: FileHandle): Promise<LogTail> => {
  const { size } = await file.stat();
  for (let window = firstWindowBytes; ; window *= 4) {
    const start = Math.max(0, size - Math.min(window, maxWindowBytes));
    const bytes = await readWhole(file, start, size - start);
    // A line that begins before the window fails its check, and so is no seal.
    const seal = lastSeal(bytes);
    const firstEnd = bytes.indexOf(newline);
    const head =
      seal?.head ?? (start === 0 && firstEnd !== -1 ? openingOf(bytes.subarray(0, firstEnd)) : undefined);
    if (head !== undefined) {
      const from = seal?.end ?? 0;
      const { count, end } = linesFrom(bytes, from, head.seq);
      const sealed = seal === undefined ? "" : bytes.toString("utf8", seal.start, seal.end);
      return {
        head,
        unsealed: bytes.subarray(from, end),
        unsealedLines: count,
        endBytes: start + end,
        isClosed:
          end === size - start && count === 0 && sealed.includes('"action":"audit.closed","details":'),
      };
    }
    // A writer died in the first line of a file.
    const isFirstLine = start === 0 && (firstEnd === -1 || bytes.every((byte) => byte === 0));
    if (isFirstLine && size < firstWindowBytes) {
      return { head: undefined, unsealed: Buffer.alloc(0), unsealedLines: 0, endBytes: 0, isClosed: false };
    }
    if (start === 0 || window >= maxWindowBytes) throw damaged();
  }
};
