import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { judgeRequest } from "../../../../test-kit/strict-provider/judge-request.ts";

interface SentMessage {
  readonly role: string;
  readonly content: unknown;
}

/** A provider that answers each valid request with one sentence, and keeps the messages that it was sent. */
export const recordingProvider = async (): Promise<{ model: string; requests: SentMessage[][] }> => {
  const requests: SentMessage[][] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const sent = JSON.parse(body) as { messages: SentMessage[] };
    requests.push(sent.messages);
    const refused = judgeRequest(request.url ?? "", { ...sent });
    if (refused !== undefined) {
      response.writeHead(400).end(JSON.stringify({ error: { message: refused } }));
      return;
    }
    const line = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(
      `${line({ role: "assistant", content: "A red square." }, null)}${line({}, "stop")}data: [DONE]\n\n`,
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { model: `openai-compatible:http://127.0.0.1:${port}/v1#m`, requests };
};

/** A picture of one pixel. */
export const pngBase64 =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
