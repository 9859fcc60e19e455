import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createMemoryApprovalStore } from "@harnesskit/approvals";
import { createHub } from "@harnesskit/hub";
import { serveHub } from "@harnesskit/hub/node";
import { hubPlace } from "@harnesskit/hub/place";
import { createPolicyHarness } from "@harnesskit/policy";
import { createMemoryTimelineStore } from "@harnesskit/timeline";
import { describe, expect, it, onTestFinished } from "vitest";
import { openPolicy } from "../src/ahp/policy-file.ts";
import { conversationEnd, RefusedCalls } from "../src/timeline/outcomes.ts";
import { type HarnessEnd, makeWorkspace } from "./support/harness.ts";
import { harness, startHarness } from "./support/in-process.ts";

const policy = `version: 1
name: table
defaults: { gate: allow, pre_prompt: allow }
rules:
  - { name: never, when: { event: pre_action, tool: bash, cel: 'args.command == "echo blocked"' }, then: { decision: block, reason: not today } }
  - { name: ask, when: { event: pre_action, tool: bash, cel: 'args.command in ["echo refused", "echo expired"]' }, then: { decision: escalate, reason: look at it } }
`;

/** A hub whose human rejects one command, and does not answer about another in time. */
const startHub = async (cwd: string) => {
  const env = { XDG_STATE_HOME: join(cwd, "state"), XDG_RUNTIME_DIR: join(cwd, "run") };
  await mkdir(env.XDG_RUNTIME_DIR, { mode: 0o700 });
  const place = hubPlace({ env });
  await mkdir(place.directory, { recursive: true, mode: 0o700 });
  await writeFile(join(cwd, "policy.yaml"), policy);
  const approvals = createMemoryApprovalStore({ limits: { answerWithinMs: 1_500, watchPollMs: 50 } });
  const onError = (error: unknown) => expect.fail(String(error));
  const hub = createHub({
    version: "1",
    policy: createPolicyHarness({ policy: await openPolicy(join(cwd, "policy.yaml"), cwd), onError }),
    approvals,
    timeline: createMemoryTimelineStore(),
    onError,
  });
  await hub.start();
  const server = await serveHub({ hub, place, onError });
  const stop = new AbortController();
  const answering = (async () => {
    for await (const { id, digest, status, subject } of approvals.watch({
      afterSeq: 0,
      signal: stop.signal,
    })) {
      if (status !== "pending" || JSON.stringify(subject).includes("expired")) continue;
      await approvals.apply(id, { type: "answer", decision: "reject", by: "anna", digest });
    }
  })();
  onTestFinished(async () => {
    stop.abort();
    await answering.catch(() => {});
    await server.close();
    await hub.close();
  });
  return env;
};

type Command = (prompt: string) => Promise<HarnessEnd>;

const commandsOf = async (cwd: string): Promise<Readonly<Record<string, Command>>> => {
  const env = await startHub(cwd);
  const engine = startHarness(["engine", "--no-auth"], { cwd, env });
  const [, url = ""] = await engine.reports(/listening on (\S+);/);
  return {
    run: (prompt) => harness(["run", prompt], { cwd, env }),
    chat: (prompt) => harness(["chat"], { cwd, env, input: `${prompt}\n` }),
    shell: (prompt) => harness(["shell", "--new", "--engine", url, prompt], { cwd, env }),
  };
};

/** The words with which a call and its turn end, and the exit code. */
const told = ({ code, stdout, stderr }: HarnessEnd) => {
  const lines = `${stderr}\n${stdout}`.split("\n");
  return {
    call: lines.map((line) => /^ {2}([⊘✗] [^:]+): /.exec(line)?.[1]).find((word) => word !== undefined),
    turn: lines
      .map((line) => /^⊘ ended: ([^·]+?)(?: ·.*)?$/.exec(line)?.[1])
      .find((word) => word !== undefined),
    code,
  };
};

describe("one table of outcomes", () => {
  it.each([
    ["agent.unavailable", "1 call did not run: the process of the tool is not there"],
    ["agent.lost", "1 call may have run: its end is not known"],
  ])("ends a thread's turn and a conversation with 4 over a call with %s", (code, text) => {
    const isLost = code === "agent.lost";
    const [thread, conversation] = [new RefusedCalls(), new RefusedCalls()];
    thread.add({ status: isLost ? "unknown" : "failed", code });
    conversation.add(conversationEnd({ status: "failed", code, message: "gone" }));
    for (const calls of [thread, conversation]) expect([calls.text, calls.exitCode]).toEqual([text, 4]);
  });

  const table = {
    "echo blocked": { call: "⊘ blocked", turn: "1 call did not run: blocked by the policy", code: 3 },
    "echo refused": { call: "✗ refused", turn: "1 call did not run: refused", code: 3 },
    "echo expired": { call: "✗ timed out", turn: "1 call did not run: not approved in time", code: 3 },
    // A tool that failed is for the model to go on with.
    false: { call: "✗ failed", turn: undefined, code: 0 },
  };

  it("gives each end of a call the same words and exit code in run, chat and shell", async () => {
    const cwd = await makeWorkspace();
    const commands = await commandsOf(cwd);
    for (const [command, expected] of Object.entries(table)) {
      const ends = await Promise.all(
        Object.entries(commands).map(async ([name, run]) => [
          name,
          told(await run(`run the command: ${command}`)),
        ]),
      );
      expect({ [command]: Object.fromEntries(ends) }).toEqual({
        [command]: { run: expected, chat: expected, shell: expected },
      });
    }
  });
});
