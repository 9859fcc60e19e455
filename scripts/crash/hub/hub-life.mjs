// A hub as a process of its own, to be killed: node hub-life.mjs STATE SCHEMA, with the database's URL in HARNESS_STORE or files.
import { createHub } from "../../../packages/hub/dist/index.js";
import { serveHub } from "../../../packages/hub/dist/node.js";
import { hubPlace } from "../../../packages/hub/dist/place.js";
import { createPolicyHarness, parsePolicy } from "../../../packages/policy/dist/index.js";
import { openHubStores } from "../stores.mjs";

process.stdin.resume().once("end", () => process.exit(1));
const [, , state, schema] = process.argv;
const place = hubPlace({ state });
const policy = createPolicyHarness({
  policy: parsePolicy(
    "version: 1\nrules:\n  - name: all\n    when: { tool: bash }\n    then: { decision: escalate, reason: asks }\n",
  ),
});
const url = process.env.HARNESS_STORE || undefined;
const { approvals, timeline } = await openHubStores({ directory: place.directory, url, schema });
const hub = createHub({
  version: "1.0.0",
  policy,
  approvals,
  timeline,
  limits: { retryAfterMs: 10, deadlineMarginMs: 20, returnWithinMs: 100, maxAnswersPerMinute: 100_000 },
});
await hub.start();
await serveHub({ hub, place, user: "crash" });
process.stdout.write("ready\n");
