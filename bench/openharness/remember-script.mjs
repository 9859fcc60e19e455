// An engine that is asked `count` times, each time with another id: what it remembers and holds, after each 100,000.
// Usage: node --expose-gc remember-script.mjs COUNT
import { createShellEngine } from "@harnesskit/shell-engine";
import { directives, requestOf } from "./messages.mjs";

const count = Number(process.argv[2]);
const engine = createShellEngine({ handlers: { intent: () => directives } });
const context = { principal: "ada" };
const held = () => {
  globalThis.gc();
  return process.memoryUsage().heapUsed / 1e6;
};
const before = held();
for (let number = 1; number <= count; number++) {
  await engine.handle(JSON.parse(JSON.stringify(requestOf(number))), context);
  if (number % 100_000 !== 0) continue;
  process.send({ number, remembered: engine.stats().rememberedRequests, megabytes: held() - before });
}
const { response } = await engine.handle(requestOf(count), context);
if (response.status !== "success") throw new Error("the last request is not remembered");
process.disconnect();
