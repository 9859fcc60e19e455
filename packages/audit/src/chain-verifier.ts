import { type AuditHead, genesis } from "./audit-head.ts";
import { classifyLine } from "./classify-line.ts";
import { openingOf, type ParsedLine, parseLine } from "./parse-line.ts";
import type { RawLine } from "./split-lines.ts";
import type { Sha256, VerifyOptions } from "./verify-options.ts";
import type { AuditProblem, AuditProblemKind, AuditVerification } from "./verify-result.ts";

const webSha256: Sha256 = async (bytes) =>
  new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>));

const toHex = (bytes: Uint8Array): string => {
  let hex = "";
  for (const byte of bytes) hex += byte.toString(16).padStart(2, "0");
  return hex;
};

const messages: Record<AuditProblemKind, string> = {
  changed: "the line is not as it was written",
  inserted: "the line was put in, or stands there twice",
  removed: "lines before this one are missing",
  reordered: "the line stands before one that it followed",
  rewritten: "the lines do not agree with the hash that seals them",
  truncated: "the log ends without a seal: its writer died or is writing, or the end was cut off",
};

const encoder = new TextEncoder();

/** The lines since the last seal, as the hash sees them. */
class OpenBlock {
  #parts: Uint8Array[] = [];
  bytes = 0;
  lines = 0;

  add(line: Uint8Array): void {
    this.#parts.push(line);
    this.bytes += line.length + 1;
    this.lines++;
  }

  /** Everything up to a line's seal, behind the hash before it. */
  covered(previousHash: string, line: Uint8Array, coveredBytes: number): Uint8Array {
    const bytes = new Uint8Array(previousHash.length + this.bytes + coveredBytes);
    bytes.set(encoder.encode(previousHash));
    let at = previousHash.length;
    for (const part of this.#parts) {
      bytes.set(part, at);
      at += part.length;
      bytes[at++] = 0x0a;
    }
    bytes.set(line.subarray(0, coveredBytes), at);
    return bytes;
  }

  clear(): void {
    this.#parts = [];
    this.bytes = 0;
    this.lines = 0;
  }
}

/** Follows the chain line by line, over one file or many. */
export class ChainVerifier {
  readonly #options: VerifyOptions;
  readonly #sha256: Sha256;
  readonly #block = new OpenBlock();
  /** What the first file follows. */
  #start: AuditHead | undefined;
  /** What this file has to follow; undefined where anything goes. */
  #previous: AuditHead | undefined;
  #hasBegun = false;
  #head: AuditHead = genesis;
  #seq = 0;
  #line = 0;
  #lastLine: Uint8Array | undefined;
  #hasMetExpected = false;

  constructor(options: VerifyOptions) {
    this.#options = options;
    this.#previous = options.previous;
    this.#sha256 = options.sha256 ?? webSha256;
  }

  #problem(kind: AuditProblemKind, more: Partial<AuditProblem> = {}): AuditVerification {
    const seq = this.#hasBegun || this.#previous !== undefined ? { seq: this.#seq + 1 } : {};
    return { ok: false, problem: { kind, line: this.#line, ...seq, message: messages[kind], ...more } };
  }

  /** Begins the next file of the log; gives what is wrong with the end of the one before, if anything. */
  nextFile(): AuditVerification | undefined {
    const unsealed = this.#unsealed();
    if (unsealed !== undefined) return unsealed;
    this.#previous = this.#head;
    this.#hasBegun = false;
    this.#line = 0;
    return undefined;
  }

  #begin(bytes: Uint8Array, parsed: ParsedLine): AuditVerification | boolean {
    const start = openingOf(bytes);
    const previous = this.#previous;
    if (start === undefined || parsed.seq !== start.seq + 1) return false;
    if (previous !== undefined && start.seq !== previous.seq) return false;
    if (previous !== undefined && start.hash !== previous.hash) {
      return this.#problem("rewritten", {
        message: "the file does not follow the one before: one was rewritten",
      });
    }
    this.#hasBegun = true;
    this.#start ??= start;
    this.#seq = start.seq;
    this.#seal(start);
    return true;
  }

  #seal(head: AuditHead): void {
    const { expectedHead } = this.#options;
    this.#head = head;
    this.#hasMetExpected ||= head.seq === expectedHead?.seq && head.hash === expectedHead.hash;
  }

  /** Takes the next line; gives what is wrong with it, if anything. */
  async take(raw: RawLine, rest: AsyncIterator<RawLine>): Promise<AuditVerification | undefined> {
    this.#line++;
    const { bytes } = raw;
    if (!raw.isWhole) {
      return this.#options.allowOpenEnd === true ? undefined : this.#problem("truncated");
    }
    const parsed = raw.isTooLong ? undefined : parseLine(bytes);
    const previous = this.#hasBegun ? this.#seq : this.#previous?.seq;
    const expected = previous === undefined ? undefined : previous + 1;
    const fits =
      parsed !== undefined && (this.#hasBegun ? parsed.seq === expected : this.#begin(bytes, parsed));
    if (typeof fits === "object") return fits;
    if (parsed === undefined || !fits) return this.#problem(await classifyLine(raw, expected, rest));
    this.#seq = parsed.seq;
    this.#lastLine = bytes;
    return parsed.seal === undefined ? this.#keep(bytes) : await this.#checkSeal(bytes, parsed.seal);
  }

  #keep(bytes: Uint8Array): AuditVerification | undefined {
    this.#block.add(bytes);
    if (this.#block.bytes <= (this.#options.maxBlockBytes ?? 16 * 1024 * 1024)) return undefined;
    return this.#range("rewritten", "no seal follows for too many lines");
  }

  async #checkSeal(
    bytes: Uint8Array,
    seal: { hash: string; coveredBytes: number },
  ): Promise<AuditVerification | undefined> {
    const covered = this.#block.covered(this.#head.hash, bytes, seal.coveredBytes);
    if (toHex(await this.#sha256(covered)) !== seal.hash) {
      this.#block.add(bytes);
      return this.#range("rewritten", messages.rewritten);
    }
    this.#block.clear();
    this.#seal({ seq: this.#seq, hash: seal.hash });
    const { expectedHead } = this.#options;
    if (expectedHead === undefined || this.#hasMetExpected || this.#seq < expectedHead.seq) return undefined;
    if ((this.#start?.seq ?? 0) > expectedHead.seq) return undefined;
    return this.#problem("rewritten", {
      seq: expectedHead.seq,
      message: "the log agrees with itself and not with the expected head: it was rewritten",
    });
  }

  #range(kind: AuditProblemKind, message: string): AuditVerification {
    const line = this.#line - this.#block.lines + 1;
    const seq = this.#seq - this.#block.lines + 1;
    return this.#problem(kind, { line, lastLine: this.#line, seq, message });
  }

  #unsealed(): AuditVerification | undefined {
    const unsealed = this.#block.lines;
    if (unsealed === 0) return undefined;
    this.#line -= unsealed - 1;
    return this.#problem("truncated", { seq: this.#seq - unsealed + 1 });
  }

  #missesExpected(): AuditVerification | undefined {
    const { expectedHead } = this.#options;
    if (expectedHead === undefined || this.#hasMetExpected) return undefined;
    if (this.#start !== undefined && this.#start.seq > expectedHead.seq) {
      const message = `the expected entry ${expectedHead.seq} is older than the oldest that is kept`;
      return this.#problem("removed", { line: 1, seq: expectedHead.seq, message });
    }
    const message = `the log ends before the expected entry ${expectedHead.seq}`;
    return this.#problem("truncated", { line: this.#line + 1, message });
  }

  /** The result once all lines were taken. */
  end(): AuditVerification {
    const wrong =
      this.#missesExpected() ?? (this.#options.allowOpenEnd === true ? undefined : this.#unsealed());
    if (wrong !== undefined) return wrong;
    const unsealed = this.#block.lines;
    const start = this.#start ?? this.#options.previous ?? genesis;
    const last = this.#lastLine === undefined ? "" : new TextDecoder().decode(this.#lastLine);
    const closed = unsealed === 0 && /^\{"seq":\d+,"time":"[^"]*","action":"audit\.closed"/.test(last);
    return { ok: true, entries: this.#seq - start.seq, start, head: this.#head, closed, unsealed };
  }
}
