// A harness with an audit log on a Unix socket: without a policy, or under one, as `harness ahp serve --quiet` is.
// Usage: node policy-server.mjs none|rules|shipped DIRECTORY
import { join } from "node:path";
import { createAhpServer } from "@harnesskit/ahp-server";
import { openFileAuditSink } from "@harnesskit/audit/node";
import { commandJudge } from "@harnesskit/command-judge";
import { createPolicyAudit, createPolicyHarness, parsePolicy } from "@harnesskit/policy";
import { defaultPolicyFile, loadPolicy } from "@harnesskit/policy/node";
import { createUnixListener } from "@harnesskit/transport-uds";
import { policyText } from "./rules.mjs";

const [kind, directory] = process.argv.slice(2);
const sink = await openFileAuditSink({ path: join(directory, `${kind}-${process.pid}.jsonl`) });

const parts = async () => {
  if (kind === "none") return { handlers: { pre_action: () => ({ decision: "allow" }) }, audit: sink };
  const audit = createPolicyAudit({ sink });
  const policy =
    kind === "rules" ? parsePolicy(policyText) : await loadPolicy(defaultPolicyFile, commandJudge());
  const { handlers, capabilities } = createPolicyHarness({ policy, onDecision: audit.onDecision });
  return { handlers, capabilities, audit };
};

const harness = createAhpServer({ name: "bench", version: "1.0.0", ...(await parts()) });
const path = join(directory, `${process.pid}.sock`);
await createUnixListener({ path, framing: "newline" }).listen((channel) => harness.connect(channel));
process.send(path);
process.on("disconnect", () => process.exit(0));
