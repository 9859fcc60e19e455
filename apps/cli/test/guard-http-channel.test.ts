import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type HarnessError, JsonLine } from "@harnesskit/wire";
import { expect, it, onTestFinished } from "vitest";
import { createHttpChannel } from "../src/guard/http-channel.ts";
import { eventually } from "./support/harness.ts";

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += chunk;
  return text;
};

it("keeps the digits of numbers both ways, and reports an answer over the limit as the error of its request", async () => {
  const posted: string[] = [];
  const number = '{"id":1917043659912705296,"f":1.0,"e":1e400}';
  const answers = [
    ["application/json", `{"jsonrpc":"2.0",\n "id":1,"result":${number}}`],
    ["text/event-stream", `id: 1.0\ndata: {"jsonrpc":"2.0","id":2,"result":${number}}\n\n`],
    ["application/json", `{"jsonrpc":"2.0","id":3,"result":{"text":"${"x".repeat(2000)}"}}`],
  ] as const;
  const http = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    const [type, body] = answers[posted.length] ?? answers[0];
    posted.push(await bodyOf(request));
    response.writeHead(200, { "content-type": type }).end(body);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`;
  const channel = createHttpChannel({ url, headers: {}, maxMessageBytes: 1000, onNote: () => {} });
  onTestFinished(async () => {
    await channel.close();
    http.close().closeAllConnections();
  });
  const received: JsonLine[] = [];
  const errors: HarnessError[] = [];
  channel.start({
    message: (line) => void received.push(line as JsonLine),
    error: (error) => errors.push(error),
    close: () => expect.unreachable("the channel stays open"),
  });
  const ask = (id: number) =>
    channel.send(new JsonLine(`{"jsonrpc":"2.0","id":${id},"method":"x","params":${number}}`, undefined));
  await ask(1);
  await ask(2);
  await eventually(() => expect(received).toHaveLength(2));
  for (const { text } of received) expect(text).toContain(`"result":${number}`);
  expect(received.map(({ value }) => (value as { id: number }).id)).toEqual([1, 2]);
  expect(posted.map((body) => body.includes(`"params":${number}`))).toEqual([true, true]);
  await ask(3).catch(() => {});
  await eventually(() => expect(errors).toHaveLength(1));
  expect(errors[0]).toMatchObject({
    name: "FrameTooLargeError",
    code: "frame_too_large",
    ends: { first: expect.stringContaining('"id":3,') },
  });
});
