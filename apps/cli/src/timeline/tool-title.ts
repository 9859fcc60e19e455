import { safeJson } from "../terminal/safe-json.ts";

type Input = Readonly<Record<string, unknown>>;

const text = (value: unknown): string => (typeof value === "string" ? value : safeJson(value ?? null));
const inPath = ({ path }: Input): string => (path === undefined ? "" : ` in ${text(path)}`);

/** What a tool works on, as untrusted text. */
export const toolSubject = (tool: string, input: Input): string => {
  switch (tool) {
    case "bash":
      return text(input.command);
    case "read":
    case "write":
    case "edit":
      return text(input.path);
    case "glob":
      return `${text(input.pattern)}${inPath(input)}`;
    case "grep":
      return `${text(input.pattern)}${inPath(input)}`;
    default:
      return safeJson(input);
  }
};
