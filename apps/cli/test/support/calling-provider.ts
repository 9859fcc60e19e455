import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { judgeRequest } from "../../../../test-kit/strict-provider/judge-request.ts";

interface Request {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly function: { readonly name: string } }[];
}

/**
 * A provider that refuses what is not valid, and whose model calls the first tool with `word` in its name, once, and then says that it is done. `offered` has the
 * names of the tools of the last request, `results` what tools returned, `said` the last request as it came.
 *
 * @param isSilent the model never answers behind its call
 */
export const callingProvider = async (word: string, input: object = {}, isSilent = false) => {
  const seen = { offered: [] as string[], results: [] as string[], said: "" };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const sent = JSON.parse(body) as Request;
    const refused = judgeRequest(request.url ?? "", { ...sent });
    if (refused !== undefined) {
      response.writeHead(400).end(JSON.stringify({ error: { message: refused } }));
      return;
    }
    const { messages, tools = [] } = sent;
    seen.offered = tools.map((tool) => tool.function.name);
    seen.said = body;
    seen.results = messages
      .filter(({ role }) => role === "tool")
      .map(({ content }) => JSON.stringify(content));
    const name =
      seen.results.length === 0 ? seen.offered.find((offered) => offered.includes(word)) : undefined;
    if (isSilent && name === undefined) return;
    const call = {
      index: 0,
      id: "call_1",
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    };
    const line = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    const answer = name === undefined ? { content: "Done." } : { tool_calls: [call] };
    response.end(
      `${line({ role: "assistant", ...answer }, null)}${line({}, name === undefined ? "stop" : "tool_calls")}data: [DONE]\n\n`,
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { model: `openai-compatible:http://127.0.0.1:${port}/v1#m`, seen };
};
