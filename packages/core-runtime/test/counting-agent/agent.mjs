import { setTimeout as sleep } from "node:timers/promises";
import { defineAgent, tool } from "../../../agent-sdk/dist/index.js";

const number = { type: "integer", minimum: 1 };

const countdown = tool({
  name: "countdown",
  description: "Counts down aloud",
  input: {
    type: "object",
    properties: { from: number, interval_ms: number },
    required: ["from", "interval_ms"],
  },
  effects: "read",
  run: async ({ from, interval_ms: interval }, { stdout, signal }) => {
    for (let left = from; left > 0; left--) {
      await stdout(String(left));
      await sleep(interval, undefined, { signal });
    }
    return { counted: from };
  },
});

const broken = tool({
  name: "broken",
  description: "Fails",
  input: { type: "object" },
  effects: "read",
  run() {
    throw new TypeError("orders is undefined");
  },
});

await defineAgent({ id: "com.example.counting", version: "1.0.0", tools: [countdown, broken] }).run();
