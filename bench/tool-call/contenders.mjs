import { open } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createAhpClient } from "@harnesskit/ahp-client";
import { createThreadGates } from "@harnesskit/ahp-client/thread-gates";
import { createAhpServer } from "@harnesskit/ahp-server";
import { openFileAuditSink } from "@harnesskit/audit/node";
import { startCore } from "@harnesskit/core-runtime";
import { createAgentHost, createAgentTools } from "@harnesskit/core-runtime/thread-tools";
import { createPolicyHarness, parsePolicy } from "@harnesskit/policy";
import { serve } from "../threads/setting.mjs";

const agentId = "com.example.echo";
const agentDirectory = fileURLToPath(new URL("../runtime/echo-agent", import.meta.url));
const policy =
  "version: 1\nrules:\n  - { name: echoes, when: { tool: com_example_echo__echo }, then: allow }\n";
/** Threads that work side by side. */
const threads = 16;
/** As an agent makes before it answers. */
const callsPerTurn = 10;

const openAudit = (directory) => openFileAuditSink({ path: join(directory, "audit.jsonl") });

const startCoreAlone = async (directory) => {
  const audit = await openAudit(directory);
  const core = await startCore({ agents: [agentDirectory], audit });
  await core.ready();
  return {
    async call(input) {
      const { status } = await core.call(`${agentId}/echo`, input).result;
      if (status !== "succeeded") throw new RangeError(status);
    },
    async close() {
      await core.close();
      await audit.close();
    },
  };
};

/** An AHP client of a policy in this process. */
const startPolicy = async () => {
  const { handlers, capabilities } = createPolicyHarness({ policy: parsePolicy(policy) });
  const harness = createAhpServer({ name: "bench", version: "1.0.0", handlers, capabilities });
  const exchange = { handle: (message) => harness.handle(structuredClone(message), {}) };
  const client = createAhpClient({ exchange, framework: "bench", version: "1.0.0" });
  await client.connect();
  return { client, parts: [client, harness] };
};

/**
 * The core's call between two lines on disk, one for its start and one for its end: what a call must leave to be known after a power
 * loss. `judge` is called before, and returns what is called after.
 */
const startRecorded = async (directory, judge = async () => () => {}) => {
  const core = await startCoreAlone(directory);
  const files = await Promise.all(
    Array.from({ length: threads }, (_, index) => open(join(directory, `${index}.jsonl`), "a")),
  );
  const free = [...files];
  const record = async (file, entry) => {
    await file.write(`${JSON.stringify(entry)}\n`);
    await file.datasync();
  };
  return {
    async call(input) {
      // No more calls are in flight than there are files.
      const file = free.pop();
      const report = await judge(input);
      await record(file, { type: "item.started", input });
      await core.call(input);
      await record(file, { type: "item.completed", input });
      report();
      free.push(file);
    },
    async close() {
      await Promise.all(files.map((file) => file.close()));
      await core.close();
    },
  };
};

/** The least that a call of a turn needs: a policy's decision, two lines on disk, the call, a report of its end. */
const startNeeded = async (directory) => {
  const { client, parts } = await startPolicy();
  const recorded = await startRecorded(directory, async (input) => {
    const call = { tool_name: "com_example_echo__echo", arguments: input };
    const { decision } = await client.decide("pre_action", call);
    if (decision.decision !== "allow") throw new RangeError(decision.decision);
    return () => client.notify("post_action", { ...call, outcome: "success", result: input });
  });
  return {
    call: recorded.call,
    async close() {
      await recorded.close();
      for (const part of parts) await part.close();
    },
  };
};

/** Thread server, policy, core and agent: what a turn's call goes through, with its share of the turn. */
const startWhole = (flush) => async (directory) => {
  const host = createAgentHost({
    agents: [{ agentId, directory: agentDirectory }],
    environment: process.env,
    version: "1.0.0",
    openAudit: () => openAudit(directory),
    onError: console.error,
  });
  const { client, parts } = await startPolicy();
  const { gate, observer } = createThreadGates({ client, toolAgent: agentId });
  const wanted = [];
  const idle = [];
  /** The next call to make; undefined at the end. */
  let isOpen = true;
  const next = () =>
    wanted.length > 0 || !isOpen ? wanted.shift() : new Promise((resolve) => idle.push(resolve));
  const runner = {
    async run(turn) {
      for (let index = 0; index < callsPerTurn; index++) {
        const one = await next();
        if (!one) return;
        const { input, settle } = one;
        settle(await turn.callTool({ callId: `call-${index}`, tool: "com_example_echo__echo", input }));
      }
    },
  };
  const tools = createAgentTools({ host });
  const { server, turn, create } = serve(join(directory, "threads"), runner, {
    tools,
    gate,
    observer,
    flush,
  });
  const work = Array.from({ length: threads }, async () => {
    const threadId = await create();
    while (isOpen) await turn(threadId);
  });
  return {
    async call(input) {
      const { status } = await new Promise((settle) => {
        const one = { input, settle };
        const take = idle.shift();
        if (take) take(one);
        else wanted.push(one);
      });
      if (status !== "succeeded") throw new RangeError(status);
    },
    async close() {
      isOpen = false;
      for (const take of idle) take(undefined);
      await Promise.all(work);
      for (const part of [server, ...parts, host]) await part.close();
    },
  };
};

export const contenders = [
  { name: "core.call", start: startCoreAlone },
  { name: "core.call, recorded on disk", start: (directory) => startRecorded(directory) },
  { name: "core.call, judged and recorded", start: startNeeded },
  { name: "thread server, policy, core, agent", start: startWhole("boundaries") },
  { name: "the same, flushed by the system", start: startWhole("never") },
];
