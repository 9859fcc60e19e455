import { maxResultChars, maxResultItems } from "./limits.ts";
import { isRecord } from "./tool-outcome.ts";

/** What a `bash` call gave. */
export interface BashValue {
  /** `null` if the command did not end by itself, absent if the result does not say. */
  readonly exitCode: number | null | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
}

/** What a `read` call gave. */
export interface ReadValue {
  readonly text: string;
  readonly totalLines: number;
  /** The text is not the whole file. */
  readonly truncated: boolean;
}

/** What a `glob` call gave: slash-separated paths, without directories. */
export interface GlobValue {
  readonly paths: readonly string[];
  readonly truncated: boolean;
}

/** What a `grep` call gave. */
export interface GrepValue {
  readonly matches: readonly { readonly path: string; readonly line?: number; readonly text: string }[];
  readonly truncated: boolean;
}

/** Reads a `bash` result, or a plain text as its output. Never throws. */
export function toBashValue(value: unknown): BashValue {
  const record = recordWith(value, ["exitCode", "stdout", "stderr"]);
  const { exitCode } = record ?? {};
  const known = exitCode === null || (typeof exitCode === "number" && Number.isFinite(exitCode));
  const stdout = record === undefined ? text(value) : text(record.stdout);
  return {
    exitCode: known ? exitCode : undefined,
    stdout: stdout.slice(-maxResultChars),
    stderr: text(record?.stderr).slice(-maxResultChars),
    truncated: record?.truncated === true,
  };
}

/** Reads a `read` result, or a plain text as the file's text. Never throws. */
export function toReadValue(value: unknown): ReadValue {
  const record = recordWith(value, ["text", "content"]) ?? {};
  const whole = text(record.text ?? record.content ?? value);
  const lines = isRecord(record.lines) ? record.lines : {};
  const counted = whole === "" ? 0 : whole.replace(/\n$/, "").split("\n").length;
  const total = typeof lines.total === "number" && lines.total >= 0 ? Math.floor(lines.total) : counted;
  const partial = typeof lines.to === "number" && lines.to < total;
  return {
    text: whole.slice(0, maxResultChars),
    totalLines: Number.isSafeInteger(total) ? total : counted,
    truncated: record.truncated === true || partial || whole.length > maxResultChars,
  };
}

/** Reads a `glob` result, a list, or a text with a path a line. Never throws. */
export function toGlobValue(value: unknown): GlobValue {
  const record = recordWith(value, ["paths", "files"]) ?? {};
  const list = entries(value, record.paths ?? record.files);
  const paths = list
    .slice(0, maxResultItems)
    .filter((path) => typeof path === "string")
    .map((path) => path.trim().replaceAll("\\", "/").replace(/^\.\//, ""))
    .filter((path) => path !== "" && path.length <= 4_096);
  return {
    paths: [...new Set(paths)].sort(),
    truncated: record.truncated === true || list.length > maxResultItems,
  };
}

/** Reads a `grep` result, a list, or a text in the form `path:line:text`. Never throws. */
export function toGrepValue(value: unknown): GrepValue {
  const record = recordWith(value, ["matches"]) ?? {};
  const list = entries(value, record.matches);
  const matches = list.slice(0, maxResultItems).flatMap((entry) => {
    if (typeof entry === "string") {
      const parts = /^([^:\n]{1,4096}):(\d{1,9}):(.*)$/s.exec(entry);
      return parts === null
        ? [{ path: "", text: entry }]
        : [{ path: parts[1] ?? "", line: Number(parts[2]), text: parts[3] ?? "" }];
    }
    if (!isRecord(entry) || typeof entry.path !== "string") return [];
    const line = typeof entry.line === "number" && Number.isSafeInteger(entry.line) ? entry.line : undefined;
    return [{ path: entry.path, text: text(entry.text), ...(line === undefined ? {} : { line }) }];
  });
  return { matches, truncated: record.truncated === true || list.length > maxResultItems };
}

/** A count that a tool reports, if it is one. */
export function toCount(value: unknown, field: string): number | undefined {
  const count = isRecord(value) ? value[field] : undefined;
  return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}

/** The value as an object with one of the fields, also if it came as JSON text; else it is no such object. */
function recordWith(value: unknown, fields: readonly string[]): Record<string, unknown> | undefined {
  const candidate = typeof value === "string" ? parseJson(value) : value;
  return isRecord(candidate) && fields.some((field) => Object.hasOwn(candidate, field))
    ? candidate
    : undefined;
}

/** The value of a JSON text, or nothing. */
export function parseJson(json: string): unknown {
  if (json.length > maxResultChars || !/^\s{0,20}[[{]/.test(json)) return undefined;
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function entries(value: unknown, field: unknown): readonly unknown[] {
  if (Array.isArray(field)) return field;
  const list = typeof value === "string" ? parseJson(value) : value;
  if (Array.isArray(list)) return list;
  if (typeof value !== "string") return [];
  return value
    .slice(0, maxResultChars)
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "");
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
