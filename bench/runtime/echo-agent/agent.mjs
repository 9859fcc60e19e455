import { defineAgent, tool } from "@harnesskit/agent-sdk";
import * as z from "zod";

const input = z.object({
  command: z.string().optional(),
  directory: z.string().optional(),
  reason: z.string().optional(),
  attempts: z.number().optional(),
  path: z.string().optional(),
  content: z.string().optional(),
});

await defineAgent({
  id: "com.example.echo",
  version: "1.0.0",
  tools: [
    tool({
      name: "echo",
      description: "Gives its input back",
      input,
      effects: "read",
      run: (given) => given,
    }),
  ],
}).run();
