import { defineAgent, tool } from "@harnesskit/agent-sdk";
import { traceAs } from "../telemetry.mjs";

const close = await traceAs("deployer agent");
const deploy = tool({
  name: "deploy",
  description: "Deploys the application.",
  input: { type: "object", properties: { to: { type: "string" } }, required: ["to"] },
  run: ({ to }) => ({ deployed: to }),
});
await defineAgent({ id: "com.example.deployer", version: "1.0.0", tools: [deploy] }).run();
await close();
