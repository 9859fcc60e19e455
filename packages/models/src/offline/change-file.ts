import type { InstructionOf } from "./instruction.ts";
import { callOne, done, notDone, type Part } from "./part.ts";
import { inlineCode, plural } from "./report.ts";
import { toCount } from "./tool-values.ts";

/** Replaces a text in a file. A file that is not there is not looked for elsewhere: a guess would change another. */
export function* editFile({ path, oldText, newText }: InstructionOf<"edit">): Part {
  const change = `${inlineCode(oldText)} with ${inlineCode(newText)}`;
  const outcome = yield* callOne(`I edit ${inlineCode(path)}: I replace ${change}.`, {
    tool: "edit",
    input: { path, oldText, newText },
  });
  if (outcome.status !== "ok") return notDone("edit", `editing ${inlineCode(path)}`, outcome);
  const replacements = toCount(outcome.value, "replacements");
  const count = replacements === undefined ? "" : ` (${plural(replacements, "replacement")})`;
  return done(`In ${inlineCode(path)} I replaced ${change}${count}.`);
}

/** Writes a file. */
export function* writeFile({ path, content }: InstructionOf<"write">): Part {
  const outcome = yield* callOne(`I write ${inlineCode(path)}.`, { tool: "write", input: { path, content } });
  if (outcome.status !== "ok") return notDone("write", `writing ${inlineCode(path)}`, outcome);
  const bytes = toCount(outcome.value, "bytes");
  return done(`I wrote ${inlineCode(path)}${bytes === undefined ? "" : ` (${plural(bytes, "byte")})`}.`);
}
