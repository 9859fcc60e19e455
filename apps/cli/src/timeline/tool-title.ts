import { safeJson } from "../terminal/text.ts";

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
