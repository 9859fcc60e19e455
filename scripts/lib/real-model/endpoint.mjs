import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Tokens of the context, and of one answer. */
const contextSize = 2048;
const maxAnswer = 48;

/** The text of a message: the parts of a user's message are one. */
const textOf = (content) =>
  typeof content === "string" ? content : (content ?? []).map(({ text = "" }) => text).join("\n");

/** The conversation as SmolLM2 was trained on it (ChatML). It calls no tools, so they are left out. */
const toPrompt = (messages) =>
  `${messages.map(({ role, content }) => `<|im_start|>${role}\n${textOf(content)}<|im_end|>\n`).join("")}<|im_start|>assistant\n`;

/**
 * Serves the model of a GGUF file as an OpenAI-compatible endpoint on a free port. `modules` has node-llama-cpp. It streams and
 * counts tokens.
 */
export async function serveModel(modules, modelPath) {
  const entry = join(modules, "node_modules", "node-llama-cpp", "dist", "index.js");
  const { getLlama } = await import(pathToFileURL(entry).href);
  const llama = await getLlama({ build: "never", gpu: false });
  const model = await llama.loadModel({ modelPath });
  // One thread: several wait for each other where the machine is busy.
  const context = await model.createContext({ contextSize, threads: 1 });
  const sequence = context.getSequence();
  const requests = [];
  const server = createServer(async (incoming, response) => {
    let body = "";
    for await (const chunk of incoming.setEncoding("utf8")) body += chunk;
    const tokens = model.tokenize(toPrompt(JSON.parse(body).messages), true);
    const seen = { promptTokens: tokens.length, answerTokens: 0, said: "" };
    requests.push(seen);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (choices, usage) => {
      const chunk = {
        id: "c1",
        object: "chat.completion.chunk",
        created: 1,
        model: "smollm2",
        choices,
        usage,
      };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    await sequence.clearHistory();
    for await (const token of sequence.evaluate(tokens, { temperature: 0 })) {
      if (model.isEogToken(token) || seen.answerTokens === maxAnswer) break;
      seen.answerTokens++;
      const text = model
        .detokenize([...tokens.slice(-1), token])
        .slice(model.detokenize(tokens.slice(-1)).length);
      seen.said += text;
      send([{ index: 0, delta: { role: "assistant", content: text }, finish_reason: null }]);
    }
    send([{ index: 0, delta: {}, finish_reason: "stop" }]);
    const { promptTokens: prompt_tokens, answerTokens: completion_tokens } = seen;
    send([], { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens });
    response.end("data: [DONE]\n\n");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    spec: `openai-compatible:http://127.0.0.1:${server.address().port}/v1#smollm2`,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await llama.dispose();
    },
  };
}
