import { choose } from "./choose.ts";
import { createTerminal } from "./terminal.ts";
import { wrapText } from "./text.ts";

/** What is asked about, as safe lines, and how it is shown. */
export interface ShownQuestion {
  readonly lines: readonly string[];
  readonly show: (lines: readonly string[]) => void;
}

/** Lines of a screen that a choice takes. */
const choiceRows = 6;
const minRows = 5;

/**
 * Shows a question screen by screen: who does not come to its end cannot allow it. `seen` at its end, `stopped` where the user stopped before.
 */
export const showToEnd = async (
  { lines, show }: ShownQuestion,
  signal: AbortSignal,
  output: NodeJS.WriteStream,
): Promise<"seen" | "stopped" | "interrupted" | "aborted"> => {
  const { columns } = createTerminal(output);
  const whole = wrapText(lines.join("\n"), columns).split("\n");
  const rows = Math.max(minRows, (output.rows || 24) - choiceRows);
  for (let at = 0; ; ) {
    show(whole.slice(at, at + rows));
    at += rows;
    if (at >= whole.length) return "seen";
    const chosen = await choose({
      message: `${at} of ${whole.length} lines are shown.`,
      choices: [
        { value: true, label: "Show more" },
        { value: false, label: "No: do not allow it", key: "n" },
      ],
      ...{ initial: true, signal, output },
    });
    if (chosen === "interrupted" || chosen === "aborted") return chosen;
    if (typeof chosen === "object" && !chosen.value) return "stopped";
  }
};
