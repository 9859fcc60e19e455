// One worker of a bench, in a process of its own: sends the rate of its turns, each lane in a session of its own.
// node worker.mjs JSON: `{ url, schema, name, seconds, inFlight, modelMs }`
import { openPostgresStore } from "@harnesskit/store-postgres";
import { ourConversation } from "../chat/contenders.mjs";

const { url, schema, name, seconds, inFlight, modelMs } = JSON.parse(process.argv[2]);
const store = await openPostgresStore({ url, schema });
const { turn, close } = ourConversation(store.graph, modelMs);
const begin = performance.now();
const end = begin + seconds * 1000;
let count = 0;
const lane = async (number) => {
  while (performance.now() < end) {
    await turn(`${name}-${number}`);
    count++;
  }
};
await Promise.all(Array.from({ length: inFlight }, (_, number) => lane(number)));
process.send((count / (performance.now() - begin)) * 1000);
await close();
await store.close();
process.disconnect();
