import { ToolError } from "@harnesskit/agent-sdk";
import type { Deadline } from "./deadline.ts";
import { displayPath } from "./file-errors.ts";
import { runRipgrep } from "./run-ripgrep.ts";

/** A pattern as arguments of ripgrep: matched line by line, `$` before either line end. Never taken for an option. */
export const patternArguments = (pattern: string): readonly string[] => ["--crlf", `--regexp=${pattern}`];

/**
 * Checks that ripgrep can compile a pattern. Throws `ToolError` `tool.invalid_input` with ripgrep's reason if it cannot,
 * and what `runRipgrep` throws.
 */
export async function checkSearchPattern(
  pattern: string,
  executable: string,
  deadline: Deadline,
): Promise<void> {
  if (pattern.includes("\0")) throw invalid("it contains a NUL character; write \\x00");
  const { code, error } = await runRipgrep({
    executable,
    // Standard input, which is empty.
    args: ["--quiet", ...patternArguments(pattern), "--", "-"],
    directory: "/",
    deadline,
    onOutput: () => true,
  });
  if (code === 2) throw invalid(reasonOf(error));
}

const invalid = (reason: string): ToolError =>
  new ToolError(
    "tool.invalid_input",
    `the search pattern is not a valid regular expression (syntax of ripgrep): ${reason}`,
  );

/** ripgrep shows the pattern and a mark below it, then the reason; other errors are one sentence, then advice about options. */
function reasonOf(error: string): string {
  const last = [...error.matchAll(/^error: (.+)$/gm)].at(-1)?.[1];
  const first = error.split("\n", 1)[0]?.replace(/^rg: /, "");
  return displayPath(last ?? first ?? "");
}
