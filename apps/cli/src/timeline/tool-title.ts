import { safeJson } from "../terminal/text.ts";

type Input = Readonly<Record<string, unknown>>;

const asText = (value: unknown): string => (typeof value === "string" ? value : safeJson(value ?? null));
const inPath = ({ path }: Input): string => (path === undefined ? "" : ` in ${asText(path)}`);

/** What a tool works on, as untrusted text. */
export const toolSubject = (tool: string, input: Input): string => {
  switch (tool) {
    case "bash":
      return asText(input.command);
    case "read":
    case "write":
    case "edit":
      return asText(input.path);
    case "glob":
    case "grep":
      return `${asText(input.pattern)}${inPath(input)}`;
    default:
      return safeJson(input);
  }
};
