import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { createBoundedFetch } from "../src/index.ts";

/** The body that a server sends, which ends there or not. */
const bodyOf = async (events: string, tooLarge?: () => string, ends = true): Promise<string> => {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).write(events);
    if (ends) response.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const send = createBoundedFetch({ maxMessageBytes: 1000, tooLarge, onBroken: () => {} });
  try {
    return await (await send(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).text();
  } finally {
    server.closeAllConnections();
    server.close();
  }
};

it.each(["data:\n", "data\n"])("counts the lines of one event that hold no text: %j", async (line) => {
  expect(await bodyOf(`${line.repeat(2000)}\ndata: last\n\n`, () => "too large")).toBe(
    "data: too large\n\ndata: last\n\n",
  );
});

it("breaks off an event that is too large before its end, where nothing stands for it", async () => {
  const body = bodyOf(`data: ${"x".repeat(2000)}\ndata: more\n`, undefined, false);
  await expect(body).rejects.toMatchObject({ code: "frame_too_large" });
});
