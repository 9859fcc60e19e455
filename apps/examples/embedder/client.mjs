// @ts-check
// Starts the server, and works with it as an editor would: node client.mjs [DIRECTORY] "PROMPT"...
import { fileURLToPath } from "node:url";
import { createThreadClient } from "@harnesskit/thread-client";
import { createChildTransport } from "@harnesskit/transport-stdio";

const [cwd = ".", ...prompts] = process.argv.slice(2);
const transport = createChildTransport({
  command: process.execPath,
  args: [fileURLToPath(new URL("embedder.mjs", import.meta.url))],
  cwd,
  inheritEnv: ["MODEL", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
});
const client = createThreadClient({ transport });
await client.connect();
const { threadId } = await client.createThread();
for (const input of prompts) {
  const turn = await client.startTurn({
    threadId,
    input,
    onApproval({ metadata }) {
      console.log(`? ${metadata.preview}\n? ${metadata.reason}: allowed`);
      return "once";
    },
  });
  for await (const event of turn) {
    if (event.type !== "item.completed") continue;
    const { type, data } = event.data.item;
    if (type === "tool_exec")
      console.log(`${data?.tool} ${data?.status} ${data?.error ?? JSON.stringify(data?.output)}`);
  }
  console.log((await turn.result).status);
}
await client.close();
