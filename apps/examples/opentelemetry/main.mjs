import { rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createThreadClient } from "@harnesskit/thread-client";
import { createChildTransport } from "@harnesskit/transport-stdio";
import { startCollector } from "./collector.mjs";
import { drawTraces } from "./picture.mjs";
import { traceAs } from "./telemetry.mjs";

const { values } = parseArgs({
  options: {
    file: { type: "string", default: "telemetry.jsonl" },
    picture: { type: "string", default: "trace.svg" },
    /** How long the human thinks, in seconds. */
    wait: { type: "string", default: "1" },
  },
});

rmSync(values.file, { force: true });
const collector = await startCollector(values.file);
process.env.OTEL_EXPORTER_OTLP_ENDPOINT = collector.endpoint;
process.env.OTEL_EXPORTER_OTLP_PROTOCOL = "http/json";
const close = await traceAs("client");

const client = createThreadClient({
  transport: createChildTransport({
    command: process.execPath,
    args: ["server.mjs"],
    cwd: import.meta.dirname,
    inheritEnv: ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_PROTOCOL"],
  }),
});
await client.connect();
const { threadId } = await client.createThread();
const turn = await client.startTurn({
  threadId,
  input: "Deploy to production",
  onApproval: async ({ metadata }) => {
    console.log(`${metadata.tool} ${JSON.stringify(metadata.input)}? Yes, in ${values.wait} s.`);
    await sleep(Number(values.wait) * 1000);
    return "once";
  },
});
console.log("the turn", (await turn.result).status);
await client.close();
await close();
await collector.close();
const { traces, services } = drawTraces(values.file, (svg) => writeFileSync(values.picture, svg));
console.log(`${traces} trace over ${services.length} processes (${services.join(", ")}): ${values.picture}`);
