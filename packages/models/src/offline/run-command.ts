import type { InstructionOf } from "./instruction.ts";
import { callOne, done, notDone, type Part } from "./part.ts";
import { codeBlock, inlineCode } from "./report.ts";
import { toBashValue } from "./tool-values.ts";

/** Runs a command and reports its exit code and the end of its output. */
export function* runCommand({ command }: InstructionOf<"run">): Part {
  const outcome = yield* callOne(`I run the command ${inlineCode(command)}.`, {
    tool: "bash",
    input: { command },
  });
  const action = `running ${inlineCode(command)}`;
  if (outcome.status !== "ok") return notDone("bash", action, outcome, commandOutput(outcome.value));
  return done(`${inlineCode(command)} ${exitSentence(outcome.value)}\n${commandOutput(outcome.value)}`);
}

/** "ended with exit code 0.", or what is known instead. */
export function exitSentence(value: unknown): string {
  const { exitCode } = toBashValue(value);
  if (exitCode === undefined) return "came back without an exit code.";
  if (exitCode === null) return "did not end by itself, so it has no exit code.";
  return `ended with exit code ${exitCode}.`;
}

/** The last lines of what a command printed; empty if nothing is known of it. */
export function commandOutput(value: unknown, maxLines = 20): string {
  if (value === undefined) return "";
  const { stdout, stderr, truncated } = toBashValue(value);
  const streams = [
    { name: "output", text: stdout },
    { name: "error output", text: stderr },
  ].filter(({ text }) => text.trim() !== "");
  if (streams.length === 0) return "It printed nothing.";
  const blocks = streams.map(
    ({ name, text }) => `The end of its ${name}:\n${codeBlock(text.trimEnd(), { keep: "end", maxLines })}`,
  );
  return blocks.join("\n") + (truncated ? "\n(The tool kept only a part of the output.)" : "");
}
