import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { ahpMethods, DecisionSchema } from "../src/ahp/index.ts";

type Method = keyof typeof ahpMethods;
type Message = { id?: string; method: Method; params: unknown; result: unknown };

it("shows an exchange in the guide of AHP that the schemas take", async () => {
  const guide = await readFile(new URL("../../../docs/supervision.md", import.meta.url), "utf8");
  const asked = new Map<string | undefined, Method>();
  for (const [, side, json = ""] of guide.matchAll(/^([<>]) (\{.*\})$/gm)) {
    const message = JSON.parse(json) as Message;
    const method = side === ">" ? message.method : (asked.get(message.id) as Method);
    const { params, result } = ahpMethods[method];
    const schema = side === ">" ? params : method === "ahp/event" ? DecisionSchema : result;
    expect(schema.safeParse(side === ">" ? message.params : message.result), json).toMatchObject({
      success: true,
    });
    if (side === ">") asked.set(message.id, method);
  }
  expect([...asked.values()]).toEqual(["ahp/handshake", "ahp/event", "ahp/event"]);
});
