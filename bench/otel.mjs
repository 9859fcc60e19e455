// What tracing costs: off (no SDK), and on (the SDK with a batch processor that drops what it gets). Ratios within one run.
import { createAhpClient } from "@harnesskit/ahp-client";
import { createAhpServer } from "@harnesskit/ahp-server";
import { registerOtel, unregisterOtel } from "@harnesskit/otel";
import { createMemoryTransport } from "@harnesskit/wire/testing";
import { activeTrace, traced } from "@harnesskit/wire/trace";
import { NodeSDK, tracing } from "@opentelemetry/sdk-node";

const rounds = Number(process.argv[2] ?? 9);
const calls = 3000;
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

const harness = createAhpServer({
  name: "bench",
  version: "1.0.0",
  handlers: { pre_action: () => ({ decision: "allow" }) },
});
const { transport, listener } = createMemoryTransport();
await listener.listen((channel) => harness.connect(channel));
const client = createAhpClient({ transport, framework: "bench", version: "1.0.0" });
await client.connect();

const payload = { tool_name: "shell", arguments: { command: "ls" } };
const callUs = async () => {
  const startedAt = performance.now();
  for (let index = 0; index < calls; index++) await client.decide("pre_action", payload);
  return ((performance.now() - startedAt) * 1000) / calls;
};

/** What the seam adds to one call when it is off: as often as a call meets it, at the client and at the harness. */
const seamNs = async () => {
  const work = async () => {};
  const times = 200_000;
  const measure = async (run) => {
    const startedAt = performance.now();
    for (let index = 0; index < times; index++) await run();
    return ((performance.now() - startedAt) * 1e6) / times;
  };
  const plain = await measure(work);
  const seam = await measure(() => {
    activeTrace();
    return traced("answer", () => ({ approvalId: "a", answer: "once" }), work);
  });
  return seam - plain;
};

await callUs();
await seamNs();
const seams = [];
for (let round = 0; round < 5; round++) seams.push(await seamNs());
// A decision meets the seam four times: the event's beginning and metadata at the client, its decision at the harness, and the trace.
const seam = 4 * median(seams);
const sdk = new NodeSDK({
  spanProcessors: [
    new tracing.BatchSpanProcessor({ export: (_, done) => done({ code: 0 }), shutdown: async () => {} }),
  ],
  metricReaders: [],
});
sdk.start();
const off = [];
const on = [];
for (let round = 0; round < rounds; round++) {
  unregisterOtel();
  off.push(await callUs());
  registerOtel();
  on.push(await callUs());
}
unregisterOtel();
const [offUs, onUs] = [median(off), median(on)];
console.log(`a decision over memory, off: ${offUs.toFixed(1)} µs`);
console.log(
  `the seam of one call, off: ${seam.toFixed(0)} ns, ${(seam / 10 / offUs).toFixed(2)} % of a call`,
);
console.log(
  `on, two spans and two metrics a call: ${onUs.toFixed(1)} µs, ${(onUs / offUs).toFixed(2)} times; ${((onUs - offUs) / 2).toFixed(0)} µs a span`,
);
await client.close();
await harness.close();
await sdk.shutdown();
