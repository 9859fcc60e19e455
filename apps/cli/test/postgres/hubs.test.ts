import { join } from "node:path";
import type { HubClient } from "@harnesskit/hub/client";
import { hubPlace } from "@harnesskit/hub/place";
import type { ApprovalRecord, TimelineRow } from "@harnesskit/protocol/hub";
import { describe, expect, it } from "vitest";
import { eventually, makeWorkspace, type Start, startProcess } from "../support/harness.ts";
import { agentOf, clientOf } from "../support/hub.ts";
import { harness, startHarness } from "../support/in-process.ts";
import { newSchema } from "../support/postgres.ts";

const secret = "s3cret-password";

/** A hub with the store of others, and a client of it. */
const startHub = async (
  cwd: string,
  name: string,
  env: Record<string, string>,
  start: Start = startHarness,
) => {
  const place = hubPlace({ state: join(cwd, name) });
  const program = start(["hub", "--store", "postgres:", "--state", place.directory], { cwd, env });
  await program.reports(/page: http/);
  const client = await clientOf(place, name);
  return { program, place, client };
};

const payloadOf = (call: string) => ({
  ...{ action_type: "tool_call", tool_name: "deploy", tool_call_id: call },
  arguments: { to: call },
});

/** The question about a call, as a hub shows it. */
const pendingAt = (client: HubClient, call: string): Promise<ApprovalRecord> =>
  eventually(async () => {
    const { records } = await client.call("inbox.list", { status: "pending" });
    const found = records.find(({ origin }) => origin.callId === call);
    if (found === undefined) throw new RangeError(`${call} is not pending`);
    return found;
  });

describe("hubs with one store", () => {
  it("are one: asked at one, answered at another, seen at the third, and found once where the first is killed", async () => {
    const cwd = await makeWorkspace();
    const { env } = newSchema();
    const [one, two, three] = await Promise.all([
      startHub(cwd, "one", env, startProcess),
      startHub(cwd, "two", env),
      startHub(cwd, "three", env),
    ]);
    const seen: TimelineRow[] = [];
    const watching = new AbortController();
    const watched = (async () => {
      const options = { afterSeq: 0, signal: watching.signal };
      for await (const rows of three.client.watchTimeline(options)) seen.push(...rows);
    })();

    // The call is held at the first hub, and goes on with the answer of the second.
    const agent = await agentOf(one.place, "bot");
    const held = agent.decide("pre_action", payloadOf("c1"), {
      timeoutMs: 30_000,
      metadata: { wait_ms: 30_000 },
    });
    const { id, digest } = await pendingAt(two.client, "c1");
    await two.client.call("inbox.answer", { id, digest, decision: "approve" });
    expect((await held).decision).toMatchObject({
      decision: "allow",
      metadata: { approval: { id, by: expect.stringMatching(/\(two\)$/) } },
    });
    await expect(three.client.call("inbox.answer", { id, digest, decision: "reject" })).rejects.toMatchObject(
      { name: "HubError", code: "already_answered" },
    );
    agent.notify("post_action", { ...payloadOf("c1"), outcome: "success" });

    // A question outlives its hub: the repeated call finds the answer at another one, once.
    await agent.decide("pre_action", payloadOf("c2"), { metadata: { wait_ms: 0 } });
    const question = await pendingAt(three.client, "c2");
    one.program.kill("SIGKILL");
    await one.program.ended;
    await two.client.call("inbox.answer", {
      ...{ id: question.id, digest: question.digest },
      decision: "approve",
    });
    const moved = await agentOf(three.place, "bot");
    const again = await moved.decide("pre_action", payloadOf("c2"), { metadata: { wait_ms: 0 } });
    expect(again.decision).toMatchObject({ decision: "allow", metadata: { approval: { id: question.id } } });
    const elsewhere = await agentOf(two.place, "bot");
    const twice = await elsewhere.decide("pre_action", payloadOf("c2"), { metadata: { wait_ms: 0 } });
    expect(twice.decision).toMatchObject({ decision: "block", reason: expect.stringContaining("was used") });
    elsewhere.notify("post_action", { ...payloadOf("c2"), outcome: "success" });

    // The page of the third hub has seen each row to its end, in the order of the changes.
    await eventually(() => {
      const ends = new Map(seen.map(({ callId, state }) => [callId, state]));
      expect(Object.fromEntries(ends)).toEqual({ c1: "done", c2: "done" });
    });
    watching.abort();
    await watched;
    expect(seen.map(({ seq }) => seq)).toEqual(seen.map(({ seq }) => seq).sort((a, b) => a - b));
    // The hub that heard of the outcome reports it to the approval.
    await eventually(async () => {
      const { record } = await three.client.call("inbox.get", { id: question.id });
      expect(record).toMatchObject({ status: "approved", effect: "done" });
    });
  }, 60_000);

  it("name no secret of the store, also where it cannot be reached", async () => {
    const cwd = await makeWorkspace();
    const inArgument = await harness(
      ["hub", "--state", join(cwd, "hub"), "--store", `postgres://me@127.0.0.1/db?sslpassword=${secret}`],
      { cwd },
    );
    expect(inArgument).toMatchObject({ code: 2, stderr: expect.stringContaining("HARNESS_STORE") });
    const env = {
      HARNESS_STORE: `postgres://me:${secret}@127.0.0.1:1/db?sslpassword=${secret}`,
      HARNESS_DEBUG: "1",
    };
    const state = join(cwd, "hub");
    const away = await harness(["hub", "--store", "postgres:", "--state", state], { cwd, env });
    expect(away).toMatchObject({ code: 4, stderr: expect.stringContaining("cannot be reached") });
    const file = await harness(["hub", "--store", "hub.sqlite", "--state", state], { cwd });
    expect(file).toMatchObject({ code: 2, stderr: expect.stringContaining("postgres:") });
    for (const { stdout, stderr } of [inArgument, away]) expect(stdout + stderr).not.toContain(secret);
  });
});
