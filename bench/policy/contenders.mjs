import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { createAhpClient } from "@harnesskit/ahp-client";
import { commandJudge, judgeCommand } from "@harnesskit/command-judge";
import { createPolicyHarness, parsePolicy } from "@harnesskit/policy";
import { defaultPolicyFile, loadPolicy } from "@harnesskit/policy/node";
import { createUnixTransport } from "@harnesskit/transport-uds";
import { byHand, events, policyText } from "./rules.mjs";

/** Decisions in one call, so that the call itself costs nothing. */
export const decisionsPerCall = 1000;

const nothing = async () => {};

/** Decides events in turn, many in one call. */
const repeated = (decide) => {
  let next = 0;
  let words = 0;
  return {
    call: async () => {
      for (let count = 0; count < decisionsPerCall; count++) {
        words += decide(events[next++ % events.length]).decision.length;
      }
      return words;
    },
    close: nothing,
  };
};

const places = { workspace: "/work/app", home: "/home/dev" };
const commandOf = (number) =>
  `cd src && grep -rn "needle${number}" . | sort -u > /tmp/found.txt && sh -c "git add -A; git commit -m 'step ${number}'"`;

const shell = () => {
  let calls = 0;
  return {
    call: async () => {
      for (let count = 0; count < decisionsPerCall; count++) judgeCommand(commandOf(calls++), places);
    },
    close: nothing,
  };
};

const served = (kind) => async (directory) => {
  const child = fork(fileURLToPath(new URL("./policy-server.mjs", import.meta.url)), [kind, directory]);
  const [path] = await once(child, "message");
  const transport = createUnixTransport({ path, framing: "newline" });
  const client = createAhpClient({ transport, framework: "bench", version: "1.0.0" });
  await client.connect();
  let next = 0;
  return {
    call: async () => {
      const verdict = await client.decide("pre_action", events[next++ % events.length].payload);
      if (verdict.origin !== "harness") throw verdict.error;
    },
    close: async () => {
      await client.close();
      const gone = once(child, "exit");
      child.disconnect();
      await gone;
    },
  };
};

export const contenders = [
  { name: "by hand", start: () => repeated(byHand) },
  {
    name: "policy",
    start: () => {
      const harness = createPolicyHarness({ policy: parsePolicy(policyText) });
      return repeated((event) => harness.decide(event).decision);
    },
  },
  {
    name: "shipped policy, a command",
    start: async () => {
      const harness = createPolicyHarness({
        policy: await loadPolicy(defaultPolicyFile, commandJudge({ home: "/home/dev" })),
      });
      const payload = { tool_name: "bash", arguments: { command: commandOf(0) } };
      return repeated((event) => harness.decide({ ...event, payload }).decision);
    },
  },
  { name: "command", start: shell },
  { name: "served, no policy", start: served("none") },
  { name: "served, 200 rules", start: served("rules") },
  { name: "served, shipped policy", start: served("shipped") },
];
