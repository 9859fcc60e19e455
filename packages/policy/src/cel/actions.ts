/** What a call of a tool does, by the tool's name; `other`: the name does not say it. */
export const actionKinds = [
  "run",
  "write",
  "edit",
  "read",
  "search",
  "fetch",
  "mcp",
  "bookkeeping",
  "other",
] as const;
export type ActionKind = (typeof actionKinds)[number];

/** The names under which agents of this SDK, and `@harnesskit/agent-hooks` for agents of other vendors, call their tools. */
const tools = new Map<string, ActionKind>([
  ["bash", "run"],
  ["powershell", "run"],
  ["write", "write"],
  ["edit", "edit"],
  ["read", "read"],
  ["glob", "search"],
  ["grep", "search"],
  ["fetch", "fetch"],
  ["web_search", "fetch"],
]);

/** The kind of a tool. It goes by the name alone: what an agent says besides could be untrue. */
export const actionKind = (tool: string): ActionKind =>
  tools.get(tool) ??
  (/^mcp__[^_].*__/.test(tool) ? "mcp" : tool.startsWith("bookkeeping:") ? "bookkeeping" : "other");
