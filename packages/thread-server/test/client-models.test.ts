import { invalidParams } from "@harnesskit/wire";
import { createMemoryPair } from "@harnesskit/wire/testing";
import { expect, it } from "vitest";
import type { TurnRunner } from "../src/index.ts";
import { RawClient } from "./support/raw-client.ts";
import { openServer } from "./support/serve.ts";

it("a client that may not choose a model is refused it; others, and a turn that names none, are not", async () => {
  const models: unknown[] = [];
  const runner: TurnRunner = { run: async ({ model }) => void models.push(model) };
  const server = openServer({ runner });
  const { client: side, server: other, clientWire } = createMemoryPair();
  server.connect(other, {
    checkModel: async ({ modelID }) => {
      if (modelID !== "good") throw invalidParams("Not this one", { reason: "model.not_allowed" });
    },
  });
  const limited = new RawClient(side, clientWire);
  const free = RawClient.connect(server);
  const threadId = await limited.createThread();
  const good = { providerID: "p", modelID: "good" };
  const bad = { providerID: "p", modelID: "bad" };
  const refused = await limited.startTurn(threadId, "go", { model: bad });
  expect(refused.error).toMatchObject({ code: -32602, data: { reason: "model.not_allowed" } });
  expect((await free.events(threadId)).map(({ type }) => type)).toEqual(["thread.created"]);
  for (const [client, model] of [
    [limited, good],
    [limited, undefined],
    [free, bad],
  ] as const) {
    await client.runTurn(threadId, "go", model && { model });
  }
  expect(models).toEqual([good, undefined, bad]);
});
