// A warm hub: the shipped policy, an AHP harness, and the guard's socket at argv[2].
import { createAhpServer } from "@harnesskit/ahp-server";
import { commandJudge } from "@harnesskit/command-judge";
import { createGuard, createHookListener } from "@harnesskit/guard";
import { createPolicyHarness } from "@harnesskit/policy";
import { defaultPolicyFile, loadPolicy } from "@harnesskit/policy/node";

const [, , guardSocket] = process.argv;
const policy = createPolicyHarness({ policy: await loadPolicy(defaultPolicyFile, commandJudge()) });
const { handlers, capabilities } = policy;
const harness = createAhpServer({ name: "bench", version: "1.0.0", handlers, capabilities });
const listener = createHookListener({ guard: createGuard({ harness, version: "1.0.0" }), path: guardSocket });
await listener.listen();
process.send("ready");
