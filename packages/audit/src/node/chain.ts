import { hash } from "node:crypto";
import type { AuditHead } from "../audit-head.ts";

const hashField = /^(.*),"hash":"([0-9a-f]{64})"\}$/s;

/** A line of the log as the chain sees it. */
export interface ChainLine {
  readonly seq: number;
  readonly action: string;
  /** What the line says of itself. */
  readonly hash: string;
  /** What it has to be behind a line with this hash. */
  hashBehind(previous: string): string;
  /** The line before the first one of a file, as that names it. */
  readonly opens: AuditHead | undefined;
}

const sha256 = (text: string): string => hash("sha256", text, "hex");

/** An entry's JSON, without its closing brace, as the next line of the chain, with its end, and its hash. */
export const chainLine = (
  previous: string,
  body: string,
): { readonly text: string; readonly hash: string } => {
  // To hash makes one piece of what was joined: the line is cut out of that.
  const chained = `${previous}${body}`;
  const own = sha256(chained);
  return { text: `${chained.slice(previous.length)},"hash":"${own}"}\n`, hash: own };
};

/** Reads a line; undefined for what no writer left. */
export const parseChainLine = (line: string): ChainLine | undefined => {
  const [, body, own] = hashField.exec(line) ?? [];
  if (body === undefined || own === undefined) return undefined;
  try {
    const { seq, action, details } = JSON.parse(line);
    if (!Number.isSafeInteger(seq) || typeof action !== "string") return undefined;
    const { previous_seq, previous_hash } = details ?? {};
    const isOpening = action === "audit.opened" && Number.isSafeInteger(previous_seq);
    return {
      seq,
      action,
      hash: own,
      hashBehind: (previous) => sha256(`${previous}${body}`),
      opens: isOpening ? { seq: previous_seq, hash: String(previous_hash) } : undefined,
    };
  } catch {
    return undefined;
  }
};
