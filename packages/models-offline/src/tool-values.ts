import { maxResultChars, maxResultItems } from "./limits.ts";

/** The fields of an object; none of another value. */
export function toFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** A string, cut to `maxChars`; empty for another value. */
export function stringOf(value: unknown, maxChars = maxResultChars): string {
  return typeof value === "string" ? value.slice(0, maxChars) : "";
}

/** Reads a `bash` result, or a plain string as its output. `exitCode` is `null` if the command did not end by itself. */
export function toBashValue(value: unknown) {
  const { exitCode, stdout, stderr, truncated } = resultWith(value, ["exitCode", "stdout", "stderr"]) ?? {
    stdout: value,
  };
  return {
    exitCode: exitCode === null || Number.isFinite(exitCode) ? (exitCode as number | null) : undefined,
    stdout: stringOf(stdout, Number.POSITIVE_INFINITY).slice(-maxResultChars),
    stderr: stringOf(stderr, Number.POSITIVE_INFINITY).slice(-maxResultChars),
    truncated: truncated === true,
  };
}

/** Reads a `read` result, or a plain string as the file's content. `truncated` if a part of the file is missing. */
export function toReadValue(value: unknown) {
  const result = resultWith(value, ["text", "content"]) ?? {};
  const text = stringOf(result.text ?? result.content ?? value, Number.POSITIVE_INFINITY);
  const lines = toFields(result.lines);
  const counted = text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
  const total = countIn(lines, "total") ?? counted;
  const isPartial = typeof lines.to === "number" && lines.to < total;
  const truncated = result.truncated === true || isPartial || text.length > maxResultChars;
  return { text: text.slice(0, maxResultChars), totalLines: total, truncated };
}

/** Reads a `glob` result, a list, or a string with a path on each line: slash-separated paths, without directories. */
export function toGlobValue(value: unknown) {
  const result = resultWith(value, ["paths", "files"]) ?? {};
  const { items, truncated } = listIn(value, result, result.paths ?? result.files);
  const paths = items
    .map((path) => stringOf(path).trim().replaceAll("\\", "/").replace(/^\.\//, ""))
    .filter((path) => path !== "" && path.length <= 4_096);
  return { paths: [...new Set(paths)].sort(), truncated };
}

/** Reads a `grep` result, a list, or a string in the form `path:line:text`. */
export function toGrepValue(value: unknown) {
  const result = resultWith(value, ["matches"]) ?? {};
  const { items, truncated } = listIn(value, result, result.matches);
  const matches = items.flatMap((item) => {
    if (typeof item === "string") {
      const [, path, line, text] = /^([^:\n]{1,4096}):(\d{1,9}):(.*)$/s.exec(item) ?? [];
      return [{ path: path ?? "", line: line && Number(line), text: text ?? item }];
    }
    const { path, line, text } = toFields(item);
    if (typeof path !== "string") return [];
    return [{ path, line: Number.isSafeInteger(line) ? (line as number) : undefined, text: stringOf(text) }];
  });
  return { matches, truncated };
}

/** A count that a tool reports, if it is one. */
export function countIn(value: unknown, field: string): number | undefined {
  const count = toFields(value)[field];
  return Number.isSafeInteger(count) && (count as number) >= 0 ? (count as number) : undefined;
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

/** A result that has one of the fields, also if it came as JSON text. */
function resultWith(value: unknown, fields: readonly string[]) {
  const result = toFields(typeof value === "string" ? parseJson(value) : value);
  return fields.some((field) => field in result) ? result : undefined;
}

/** The list in a field, the result as a list, or the lines of a string. */
function listIn(value: unknown, result: ReturnType<typeof toFields>, field: unknown) {
  const lines = () =>
    stringOf(value)
      .split(/\r?\n/)
      .filter((line) => line.trim() !== "");
  const all = [field, typeof value === "string" ? parseJson(value) : value].find(Array.isArray) ?? lines();
  const truncated = result.truncated === true || all.length > maxResultItems;
  return { items: all.slice(0, maxResultItems) as unknown[], truncated };
}
