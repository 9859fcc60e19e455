// @ts-check
import { defineAgent, tool } from "@harnesskit/agent-sdk";
import * as z from "zod";

const greet = tool({
  name: "greet",
  description: "Greets a person",
  input: z.object({ name: z.string().max(100) }),
  effects: "read",
  run: ({ name }) => ({ greeting: `Hello, ${name}!` }),
});

await defineAgent({ id: "com.example.hello", version: "1.0.0", tools: [greet] }).run();
