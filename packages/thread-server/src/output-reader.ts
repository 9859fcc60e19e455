import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { EventName, Item } from "@harnesskit/protocol/threads";
import { isObject } from "@harnesskit/wire/json";
import { outputPage, readOutputTool } from "@harnesskit/wire/replay";
import { type Tool, ToolError, tool } from "@harnesskit/wire/tool";
import type { ThreadSession } from "./thread-session.ts";

/** The artifact of an output that its item keeps a part of. */
export const outputArtifact = (toolItemId: string): string => `${toolItemId}-output.json`;

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

/** The output of a call: of one that its item keeps a part of, what its artifact has. */
const wholeOutput = async ({ settings, threadId }: ThreadSession, itemId: string, output: JsonValue) => {
  if (!isObject(output) || output.truncated !== true || typeof output.head !== "string") return output;
  const decoder = new TextDecoder();
  let text = "";
  for await (const part of settings.store.readArtifact(threadId, outputArtifact(itemId)))
    text += decoder.decode(part, { stream: true });
  text += decoder.decode();
  if (text === "") return output;
  // A string is read as what it says. One that was cut at the limit of artifacts is not JSON.
  return text.startsWith('"') && text.length === output.length ? String(JSON.parse(text)) : text;
};

/** The tool that reads again what the agent was shown a part of: the output of a call of this thread, whole. */
export const createOutputReader = (session: ThreadSession): Tool =>
  tool({
    name: readOutputTool.name,
    description: readOutputTool.description,
    input: readOutputTool.inputSchema,
    effects: "read",
    async run(input: Readonly<Record<string, unknown>>) {
      const item = await findItem(session, String(input.id));
      if (item?.type !== "tool_exec" || item.data?.output === undefined)
        throw new ToolError(
          "tool.invalid_input",
          "There is no output with this id. Use the id that a shortened output names.",
        );
      const output = await wholeOutput(session, item.itemId, item.data.output);
      return outputPage(typeof output === "string" ? output : JSON.stringify(output), input);
    },
  });
