import type { ItemData } from "@harnesskit/protocol/threads";
import { type SummaryCounts, summarySize } from "@harnesskit/wire/replay";
import type { Style } from "../terminal/terminal.ts";
import { oneLine, safeJson } from "../terminal/text.ts";

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

/** What a summary stands for, as a line above it. */
export const summaryLine = (summary: SummaryCounts, style: Style): string =>
  style.dim(`… ${summarySize(summary)} before this are no longer given to the model, but this summary:`);

type Input = Readonly<Record<string, unknown>>;

const asText = (value: unknown): string => (typeof value === "string" ? value : safeJson(value));
const inPath = ({ path }: Input): string => (path === undefined ? "" : ` in ${asText(path)}`);
/** The field that says what a tool works on. */
const subjects = new Map([
  ["bash", "command"],
  ...["read", "write", "edit"].map((tool) => [tool, "path"] as const),
  ...["glob", "grep"].map((tool) => [tool, "pattern"] as const),
  ...["commands", "command_stop"].map((tool) => [tool, "id"] as const),
]);

/** What a tool works on, as untrusted text. */
export const toolSubject = (tool: string, input: Input): string => {
  const field = subjects.get(tool);
  // A model may have written another input than the tool takes.
  if (Object.keys(input).length === 0) return "";
  if (field === undefined || input[field] === undefined) return safeJson(input);
  return `${asText(input[field])}${field === "pattern" ? inPath(input) : ""}`;
};
