import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { createBoundedFetch } from "../src/index.ts";

const bodyOf = async (events: string): Promise<string> => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(events);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const send = createBoundedFetch({ maxMessageBytes: 1000, tooLarge: () => "too large", onBroken: () => {} });
  try {
    return await (await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).text();
  } finally {
    server.close();
  }
};

it.each(["data:\n", "data\n"])("counts the lines of one event that hold no text: %j", async (line) => {
  expect(await bodyOf(`${line.repeat(2000)}\ndata: last\n\n`)).toBe("data: too large\n\ndata: last\n\n");
});
