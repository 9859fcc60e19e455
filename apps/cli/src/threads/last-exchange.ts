import { createFileThreadStore } from "@harnesskit/thread-server/node";
import type { Exchange } from "../terminal/exchange-lines.ts";
import { promptText } from "../timeline/judgements.ts";

/** Bytes of a log's end that are read: an answer before them is not found. */
const readBytes = 256 * 1024;

/** The name of a thread below `harness`, the `.harness` directory, and what was said in it last; undefined where it cannot be read. Takes no lock. */
export const lastExchangeOf = async (harness: string, threadId: string): Promise<Exchange | undefined> => {
  const store = createFileThreadStore({ root: harness });
  try {
    const thread = await store.get(threadId);
    if (thread === undefined) return undefined;
    let [prompt, answer] = ["", ""];
    for (const event of await store.lastEvents(threadId, readBytes)) {
      if (event.type !== "item.completed") continue;
      const { item } = event.data;
      if (item.type === "user_message") [prompt, answer] = [promptText(item.data?.content), ""];
      if (item.type === "assistant_message" && item.data?.reasoning !== true) answer = item.data?.text ?? "";
    }
    return { title: thread.title, prompt, answer };
  } catch {
    // The server says why a thread cannot be read.
    return undefined;
  }
};
