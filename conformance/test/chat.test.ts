import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { loadSuite, runSuite } from "../src/index.ts";
import { expectHolds, patient } from "./support.ts";
import { createChatAdapter } from "./targets/chat-adapter.ts";
import { type CreateChatAdapter, serveAdapter } from "./targets/serve-adapter.ts";

const schemaFile = new URL("../schema/chat-adapter.schema.json", import.meta.url);
const fits = new Ajv2020({ strict: false }).compile(JSON.parse(readFileSync(schemaFile, "utf8")));

describe("our chat harness conforms", () => {
  it("behind its adapter, whose messages fit the published JSON Schema", async () => {
    const strange: unknown[] = [];
    const check = (content: object): void => {
      const message = JSON.parse(JSON.stringify({ jsonrpc: "2.0", ...content }));
      if (!fits(message)) strange.push(message);
    };
    const watched: CreateChatAdapter = (directory, notify) => {
      const adapter = createChatAdapter(directory, (method, params) => {
        check({ method, params });
        notify(method, params);
      });
      return {
        ...adapter,
        async call(method, params) {
          check({ id: "c-1", method, params });
          const result = (await adapter.call(method, params)) ?? {};
          check({ id: "c-1", result });
          return result;
        },
      };
    };
    const start = serveAdapter(watched);
    const target = { kind: "module", start, name: "chat-harness", transport: "unix" } as const;
    const report = await runSuite({ suite: loadSuite("chat"), target, limits: patient });
    expectHolds(report);
    expect(strange).toEqual([]);
  });
});
