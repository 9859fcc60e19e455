import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { ApprovalSubject } from "@harnesskit/protocol/hub";
import { isPreviewCut } from "@harnesskit/protocol/threads";
import { displayName } from "@harnesskit/wire";
import { safeLine } from "./view-lines.ts";

/** A part of an action, its text not yet safe. */
export interface TextPart {
  readonly kind: "command" | "prompt" | "diff" | "input";
  readonly label: string;
  readonly text: string;
  /** What takes the place of the text. */
  readonly by?: string;
  readonly path?: string | undefined;
}

export interface Description {
  /** Safe words. */
  readonly title: string;
  readonly parts: readonly TextPart[];
}

/** The fields in which tools that edit have the text that is replaced, and the one in its place. */
const replacements = [
  ["oldText", "newText"],
  ["old_text", "new_text"],
  ["oldString", "newString"],
  ["old_string", "new_string"],
  ["old_str", "new_str"],
] as const;
const contentFields = ["content", "contents", "file_text"] as const;
/** Whether a tool runs its `command`, by the names of policies. What another tool does with a field of that name is not known. */
export const isCommandTool = (tool: unknown): boolean => tool === "bash" || tool === "powershell";

const pathFields = ["path", "file_path", "filePath"] as const;
/** The fields in which tools that patch have an envelope of `*** Begin Patch`. */
const patchFields = ["patch", "patchText", "command"] as const;

const inputPart = (input: object, label: string): TextPart[] =>
  Object.keys(input).length === 0 ? [] : [{ kind: "input", label, text: JSON.stringify(input, null, 2) }];

const without = (input: JsonObject, names: readonly string[]): object =>
  Object.fromEntries(Object.entries(input).filter(([name]) => !names.includes(name)));

const stringAt = <Name extends string>(input: JsonObject, names: readonly Name[]): Name | undefined =>
  names.find((name) => typeof input[name] === "string");

/** What the hunks of a diff say of both sides. */
const sidesOf = (diff: string): { readonly before: string; readonly after: string } => {
  const hunks = diff.split(/^@@.*$\n?/m).slice(1);
  const side = (other: string) =>
    hunks
      .map((hunk) =>
        hunk
          .split("\n")
          .filter((line) => !line.startsWith(other) && !line.startsWith("\\"))
          .map((line) => line.slice(1))
          .join("\n"),
      )
      // What no string has: a field is not looked for across two hunks.
      .join("\0");
  return { before: side("+"), after: side("-") };
};

/**
 * The fields that a preview shows word for word, and with `isExact` those that it was made of: they need not be shown twice.
 * What an agent says of its own call is compared, not believed.
 */
const shownFields = (input: JsonObject, preview: string, isExact: boolean): string[] => {
  const { before, after } = sidesOf(preview);
  const whole = [
    ...replacements.flatMap(([old, next]) => [
      [old, before],
      [next, after],
    ]),
    ...contentFields.map((name) => [name, after]),
  ] as const;
  const texts = whole.flatMap(([name = "", side = ""]) => {
    const text = input[name];
    if (typeof text !== "string") return [];
    return isExact || side.includes(text.replace(/\n$/, "")) ? [name] : [];
  });
  const changed = changedLines(preview).join("\n");
  const patches = patchFields.filter((name) => {
    const text = input[name];
    return isPatch(text) && changedLines(text).join("\n") === changed;
  });
  return [...texts, ...patches];
};

const isPatch = (text: unknown): text is string =>
  typeof text === "string" && text.startsWith("*** Begin Patch");

/** The lines that go and come, in their order. */
const changedLines = (diff: string): readonly string[] =>
  diff.split("\n").filter((line) => /^[-+]/.test(line) && !fileLine.test(line));

/** The names of a diff's file, before its hunks. */
const fileLine = /^(?:---|\+\+\+) (?:[ab]\/|\/dev\/null$|"?[ab]\/)/;

/** How many lines come and go, and whether the file is new. */
const changeWords = (diff: string, place: string): string => {
  const lines = diff.split("\n");
  const files = lines.slice(
    0,
    lines.findIndex((line) => line.startsWith("@@")),
  );
  const changed = changedLines(diff);
  const count = (sign: "+" | "-") => changed.filter((line) => line.startsWith(sign)).length;
  if (files.includes("--- /dev/null")) return `create ${place} (+${count("+")})`;
  if (files.includes("+++ /dev/null")) return `delete ${place} (−${count("-")})`;
  return `change ${place} (+${count("+")} −${count("-")})`;
};

const isDiff = (preview: string): boolean => /^@@ /m.test(preview);

/** What a call will do, in words and in parts: by the fields that tools commonly have. Each field is in one of them. */
export const describeCall = (
  { tool, input, preview }: ApprovalSubject,
  isExactPreview: boolean,
): Description => {
  const name = displayName(tool, { maxLength: Number.POSITIVE_INFINITY });
  const pathField = stringAt(input, pathFields);
  const path = pathField === undefined ? undefined : String(input[pathField]);
  const diff: TextPart[] =
    preview === undefined
      ? []
      : [
          isDiff(preview)
            ? { kind: "diff", label: "changes", path, text: preview }
            : { kind: "prompt", label: "preview", text: preview },
        ];
  const besides = (names: readonly string[]) => inputPart(without(input, names), "and with");
  if (isCommandTool(tool) && typeof input.command === "string") {
    const part: TextPart = { kind: "command", label: "command", text: input.command };
    const isLeft = input.background === true;
    const shown = isLeft ? ["command", "background"] : ["command"];
    const title = `${name}: run this command${isLeft ? " in the background" : ""}`;
    return { title, parts: [part, ...diff, ...besides(shown)] };
  }
  if (tool === "prompt" && typeof input.text === "string") {
    const part: TextPart = { kind: "prompt", label: "prompt", text: input.text };
    return { title: "give this prompt to the model", parts: [part, ...diff, ...besides(["text"])] };
  }
  const place = path === undefined ? "what the diff shows" : safeLine(path);
  // A path that the title shows whole.
  const titled = path !== undefined && place === path ? [String(pathField)] : [];
  if (preview !== undefined) {
    if (!isDiff(preview) || isPreviewCut(preview)) {
      // What the preview leaves out is shown by the input.
      const whole = describeCall({ tool, input }, false);
      return { title: whole.title, parts: [...diff, ...whole.parts] };
    }
    const shown = shownFields(input, preview, isExactPreview);
    const rest = without(input, shown.length === 0 ? [] : [...shown, ...titled]);
    const parts = [...diff, ...inputPart(rest, shown.length === 0 ? "input" : "and with")];
    return { title: `${name}: ${changeWords(preview, place)}`, parts };
  }
  const fields = replacements.find(
    ([old, next]) => typeof input[old] === "string" && typeof input[next] === "string",
  );
  if (fields !== undefined && path !== undefined) {
    const part: TextPart = {
      kind: "diff",
      label: "replaces",
      path,
      text: String(input[fields[0]]),
      by: String(input[fields[1]]),
    };
    return { title: `${name}: change ${place}`, parts: [part, ...besides([...fields, ...titled])] };
  }
  const content = stringAt(input, contentFields);
  if (content !== undefined && path !== undefined) {
    const part: TextPart = { kind: "diff", label: "writes", path, text: "", by: String(input[content]) };
    return { title: `${name}: write ${place}`, parts: [part, ...besides([content, ...titled])] };
  }
  const patch = patchFields.find((field) => isPatch(input[field]));
  if (patch !== undefined) {
    const part: TextPart = { kind: "diff", label: "patch", text: String(input[patch]) };
    return { title: `${name}: apply this patch`, parts: [part, ...besides([patch])] };
  }
  return { title: `${name}: call it with this input`, parts: inputPart(input, "input") };
};
