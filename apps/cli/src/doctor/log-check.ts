import { openOwnFile } from "@harnesskit/node-kit";
import { EventSchema } from "@harnesskit/protocol/threads";
import { shellWord } from "@harnesskit/wire";
import { oneLine } from "../terminal/text.ts";
import { type Finding, note, problem } from "./checks.ts";

const maxLineBytes = 64 * 1024 * 1024;
const blockBytes = 64 * 1024;
const newline = 0x0a;

const maxNamed = 10;

async function* logLines(path: string): AsyncGenerator<string | undefined> {
  const file = await openOwnFile(path);
  try {
    let parts: Buffer[] = [];
    let length = 0;
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(blockBytes), 0, blockBytes);
      if (bytesRead === 0) return;
      let start = 0;
      for (let end = 0; start < bytesRead; start = end + 1) {
        end = buffer.subarray(0, bytesRead).indexOf(newline, start);
        const part = buffer.subarray(start, end === -1 ? bytesRead : end);
        length += part.length;
        if (length <= maxLineBytes) parts.push(part);
        if (end === -1) break;
        yield length > maxLineBytes ? undefined : Buffer.concat(parts).toString("utf8");
        parts = [];
        length = 0;
      }
    }
  } finally {
    await file.close();
  }
}

const eventSeq = (line: string | undefined): number | undefined => {
  if (line === undefined) return undefined;
  try {
    const { success, data } = EventSchema.safeParse(JSON.parse(line));
    return success ? data.seq : undefined;
  } catch {
    return undefined;
  }
};

interface Log {
  readonly passedOver: readonly number[];
  readonly gaps: readonly { readonly line: number; readonly from: number; readonly to: number }[];
}

const readLog = async (path: string): Promise<Log> => {
  const passedOver: number[] = [];
  const gaps: { line: number; from: number; to: number }[] = [];
  let line = 0;
  let last = 0;
  for await (const text of logLines(path)) {
    line++;
    const seq = eventSeq(text);
    if (seq === undefined || seq <= last) {
      passedOver.push(line);
      continue;
    }
    if (seq > last + 1) gaps.push({ line, from: last + 1, to: seq - 1 });
    last = seq;
  }
  return { passedOver, gaps };
};

/** Looks for what a server passes over when it reads a thread's log, and for what is missing in it. */
export const checkLog = async (name: string, path: string): Promise<Finding[]> => {
  const log = await readLog(path).catch(() => undefined);
  if (!log) return [];
  const { passedOver, gaps } = log;
  const shown = oneLine(path, 1000);
  const findings: Finding[] = [];
  if (passedOver.length > 0) {
    const named = passedOver.slice(0, maxNamed);
    const word = oneLine(shellWord(path), 1000);
    const sed = (command: string) => named.map((line) => `${line}${command}`).join(";");
    const what = passedOver.length === 1 ? "a line" : `${passedOver.length} lines`;
    const places = named.map((line) => `${shown}:${line}`).join(", ") + andMore(passedOver);
    findings.push(
      problem(
        "log",
        `${name}: ${what} passed over, no event or one that repeats: ${places}`,
        `Look at it: sed -n '${sed("p")}' ${word}. To have it gone: sed -i.bak '${sed("d")}' ${word}`,
      ),
    );
  }
  if (gaps.length > 0) {
    const places = gaps.slice(0, maxNamed).map(({ line, from, to }) => {
      const numbers = from === to ? `${from}` : `${from} to ${to}`;
      return `${numbers} before ${shown}:${line}`;
    });
    findings.push(note("log", `${name}: numbers are missing: ${places.join(", ")}${andMore(gaps)}`));
  }
  return findings;
};

const andMore = ({ length }: readonly unknown[]): string =>
  length > maxNamed ? ` and ${length - maxNamed} more` : "";
