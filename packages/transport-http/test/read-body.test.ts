import { createDeferred } from "@harnesskit/wire";
import { expect, it } from "vitest";
import { readBody } from "../src/index.ts";

const requestOf = (body?: BodyInit) =>
  new Request("http://127.0.0.1/", { method: "POST", ...(body !== undefined && { body, duplex: "half" }) });

it("reads a body of so many bytes, and cancels one that has more", async () => {
  expect(await readBody(requestOf("é".repeat(5)), 10)).toEqual(new TextEncoder().encode("ééééé"));
  expect(await readBody(requestOf(), 10)).toEqual(new Uint8Array());
  const cancelled = createDeferred<string>();
  const endless = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new Uint8Array(4)),
    cancel: () => cancelled.resolve("cancelled"),
  });
  expect(await readBody(requestOf(endless), 10)).toBeUndefined();
  expect(await cancelled.promise).toBe("cancelled");
});
