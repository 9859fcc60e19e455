import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readEvents } from "../src/ahp/read-events.ts";
import { makeWorkspace } from "./support/harness.ts";

const reading = async (text: string) => {
  const file = join(await makeWorkspace(), "event.json");
  await writeFile(file, text);
  return readEvents(file);
};

describe("the events of a file", () => {
  it("are one, or an array", async () => {
    const action = { event_type: "pre_action", payload: { tool_name: "bash" } };
    expect(await reading(JSON.stringify(action))).toEqual([action]);
    expect(await reading(JSON.stringify([action, action]))).toEqual([action, action]);
  });

  it.each([
    ["no JSON", "{", "is not JSON"],
    ["a text", '"x"', "has no event_type"],
    ["an event of no type", "{}", "has no event_type"],
    ["an unknown type", '{"event_type":"pre_act\\u001bion"}', "there is no event pre_act\u001bion"],
    ["the type of a method", '{"event_type":"handshake"}', "there is no event handshake"],
    [
      "a payload that does not fit",
      '{"event_type":"heartbeat","payload":{}}',
      "the payload of heartbeat at uptime_ms",
    ],
    ["a depth that is none", '{"event_type":"error","depth":-1}', "at depth"],
    ["an empty batch", "[]", "The batch is empty"],
    ["a batch of something else", "[1]", "Event 0 of the batch has no event_type"],
    [
      "an event that stands in no batch",
      '[{"event_type":"idle","payload":{"idle_duration_ms":1,"idle_reason":""}}]',
      "cannot stand in a batch",
    ],
    [
      "an event that is a query too",
      '{"event_type":"pre_action","query_type":"weather","payload":{}}',
      "has both an event_type and a query_type",
    ],
    ["too much", `"${"x".repeat(4_200_000)}"`, "more than 4194304 bytes"],
  ])("are refused where it holds %s", async (_what, text, message) => {
    await expect(reading(text)).rejects.toMatchObject({
      code: "usage",
      exitCode: 2,
      message: expect.stringContaining(message),
    });
  });

  it.each([
    ["nowhere.json", "does not exist"],
    [".", "is a directory"],
  ])("are refused of %s", async (file, message) => {
    await expect(readEvents(file)).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining(message),
    });
  });
});
