// The process of one contender: measures its calls when it is asked to. See isolated.mjs.
import { latency, throughput } from "./rounds.mjs";

const [module, name, directory] = process.argv.slice(2);
const { contenders } = await import(module);
const { call, close } = await contenders.find((contender) => contender.name === name).start(directory);
const measures = { throughput, latency };

process.on("message", async ({ measure, input, options }) => {
  if (measure in measures) {
    process.send(await measures[measure](() => call(input), options));
    return;
  }
  await close();
  process.disconnect();
});
process.send("ready");
