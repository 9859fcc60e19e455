import type { ItemData } from "@harnesskit/protocol/threads";
import { oneLine } from "../terminal/text.ts";

/** The commands in which a user answers; with an option, such as `harness run --approve once`, none was asked. */
const askingCommands: ReadonlySet<string> = new Set(
  ["run", "attach", "chat", "shell", "inbox"].map((command) => `harness ${command}`),
);

/** Who answered a question, as people read it: the user of a terminal, or the client by its name. Safe text. */
const answererText = (name: string): string =>
  askingCommands.has(name) ? `you, in ${name}` : oneLine(name, 100);

/** What became of an approval, and by whom, as people read it. Safe text. */
export const approvalText = ({
  decision,
  reason,
  note,
  scope,
  match,
  resolvedBy,
}: ItemData<"approval">): string => {
  const by = resolvedBy === undefined ? "" : ` by ${answererText(resolvedBy)}`;
  const why = reason === undefined ? "" : `: ${oneLine(reason, 200)}`;
  const saidWhy = note === undefined ? "" : `: ${oneLine(note, 500)}`;
  switch (decision) {
    case "once":
      return `approved once${by}`;
    case "always":
      return `approved always, ${match ? "with any plain arguments" : "for exactly this"}${scope === "directory" ? ", in this project" : ""}${by}`;
    case "reject":
      return reason === "unattended"
        ? `not approved: no user could be asked${by}`
        : `rejected${by}${saidWhy}`;
    default:
      return `not answered${why}`;
  }
};
