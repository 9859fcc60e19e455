import type { Socket } from "node:net";
import type { Message } from "./runtime-frames.ts";

/** What a core knows of one launch of an agent. */
export interface Launch {
  readonly agentId: string;
  readonly token: string;
  readonly permissions: readonly string[];
  readonly validUntil: number;
  uses: number;
}

/** One connection of an agent. */
export interface Session {
  readonly socket: Socket;
  readonly id: string;
  readonly launch: Launch;
  readonly tools: Map<string, Message>;
  heardAt: number;
  send(type: string, payload: object, more?: object): boolean;
}

/** Why a tool is rejected. */
const judgeTool = (tool: Message, session: Session, skips: (rule: string) => boolean): string | undefined => {
  const { agentId } = session.launch;
  if (typeof tool !== "object" || typeof tool?.tool_id !== "string") return "tool.invalid_declaration";
  if (!tool.tool_id.startsWith(`${agentId}/`) && !skips("namespaces")) return "tool.not_namespaced";
  if (session.tools.has(tool.tool_id) && !skips("conflicts")) return "tool.conflict";
  if (JSON.stringify(tool).length > 100_000 && !skips("large-schemas")) return "tool.declaration_too_large";
  if (typeof tool.input_schema.type !== "string" && !skips("schemas")) return "tool.invalid_declaration";
  if (skips("four-fields") && tool.tags === undefined) return "tool.invalid_declaration";
  if (skips("known-fields") && tool.color !== undefined) return "tool.invalid_declaration";
  return undefined;
};

/** Registers the tools of a message, and answers it. */
export const registerTools = (
  session: Session,
  { id, payload }: Message,
  skips: (rule: string) => boolean,
): void => {
  if (payload.replace === true && !skips("replace")) session.tools.clear();
  const registered: string[] = [];
  const rejected: object[] = [];
  for (const tool of payload.tools) {
    const code = judgeTool(tool, session, skips);
    if (code === undefined) {
      session.tools.set(tool.tool_id, tool);
      registered.push(tool.tool_id);
    } else if (skips("one-by-one")) break;
    else rejected.push({ tool_id: String(tool?.tool_id), error: { code, message: "it cannot be used" } });
  }
  const answer = (): void =>
    void session.send(
      "core.tools.registered",
      { registered, rejected },
      { in_reply_to: skips("in-reply-to") ? "x" : id },
    );
  if (skips("order") && registered.length === 1 && id === "first") setTimeout(answer, 50);
  else answer();
};
