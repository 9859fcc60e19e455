// A hub as a process of its own, to be killed: node hub-life.mjs STATE DIRECTORY PORT
import { join } from "node:path";
import { createHub } from "../../../packages/hub/dist/index.js";
import { serveHub } from "../../../packages/hub/dist/node.js";
import { hubPlace } from "../../../packages/hub/dist/place.js";
import { createPolicyHarness, parsePolicy } from "../../../packages/policy/dist/index.js";
import { openApprovalStore, openTimelineStore } from "../../../packages/store-sqlite/dist/index.js";

process.stdin.resume().once("end", () => process.exit(1));
const place = hubPlace({ state: process.argv[2] });
const policy = createPolicyHarness({
  policy: parsePolicy(
    "version: 1\nrules:\n  - name: all\n    when: { tool: bash }\n    then: { decision: escalate, reason: asks }\n",
  ),
});
const hub = createHub({
  version: "1.0.0",
  policy,
  approvals: await openApprovalStore({
    file: join(place.directory, "approvals.db"),
    limits: { maxOpenPerSession: 1000, watchPollMs: 50 },
  }),
  timeline: await openTimelineStore({ file: join(place.directory, "timeline.db") }),
  limits: { retryAfterMs: 10, deadlineMarginMs: 20, returnWithinMs: 100, maxAnswersPerMinute: 100_000 },
});
await hub.start();
await serveHub({ hub, place, user: "crash", port: Number(process.argv[4]) });
process.stdout.write("ready\n");
