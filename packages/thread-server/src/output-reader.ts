import type { EventName, Item } from "@harnesskit/protocol/threads";
import { readOutputName } from "@harnesskit/wire/replay";
import { type Tool, ToolError, tool } from "@harnesskit/wire/tool";
import type { ThreadSession } from "./thread-session.ts";

/** Characters that one call gives, where it does not ask for fewer. */
const pageLength = 20_000;

const inputSchema = {
  type: "object",
  properties: {
    id: { type: "string", description: "The id in the mark of the output." },
    offset: { type: "integer", minimum: 0, description: "The first character to read. Default 0." },
    limit: { type: "integer", minimum: 1, maximum: pageLength, description: "How many characters to read." },
  },
  required: ["id"],
  additionalProperties: false,
} as const;

const completed: readonly EventName[] = ["item.completed"];

/** The item of a call, in memory or else in the log. */
const findItem = async (
  { state, settings, threadId }: ThreadSession,
  id: string,
): Promise<Item | undefined> => {
  const recent = state.history.findLast(({ itemId }) => itemId === id);
  if (recent) return recent;
  for await (const event of settings.store.events(threadId, { types: completed })) {
    if (event.type === "item.completed" && event.data.itemId === id) return event.data.item;
  }
  return undefined;
};

const whole = (value: unknown, fallback: number): number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : fallback;

/** The tool that reads again what the agent was shown a part of: the output of a call of this thread, as its item keeps it. */
export const createOutputReader = (session: ThreadSession): Tool =>
  tool({
    name: readOutputName,
    description:
      "Reads an earlier tool output again of which a part was left out of this conversation. Give the id of its mark; read a long one in parts.",
    effects: "read",
    input: inputSchema,
    async run(input: Readonly<Record<string, unknown>>) {
      const item = await findItem(session, String(input.id));
      if (item?.type !== "tool_exec" || item.data?.output === undefined)
        throw new ToolError("tool.invalid_input", "There is no output of this id: take the id of a mark.");
      const { output } = item.data;
      const text = typeof output === "string" ? output : JSON.stringify(output);
      const offset = whole(input.offset, 0);
      const end = offset + Math.min(pageLength, Math.max(1, whole(input.limit, pageLength)));
      return { length: text.length, offset, text: text.slice(offset, end), isEnd: end >= text.length };
    },
  });
