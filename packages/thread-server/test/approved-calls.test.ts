import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import { createDeferred } from "@harnesskit/wire";
import { expect, it, vi } from "vitest";
import type { ThreadServerOptions, TurnRunner } from "../src/index.ts";
import { createFileThreadStore } from "../src/node/index.ts";
import { ofType, RawClient } from "./support/raw-client.ts";
import { changeAnswers, openServer, ownDirectory } from "./support/serve.ts";
import { recordingTool } from "./support/tools.ts";

const names = ["one", "two", "three"];

/** Makes three calls in one step, each behind those before it. */
const stepRunner: TurnRunner = {
  async run(turn) {
    const made: Promise<{ readonly status: string }>[] = [];
    for (const [index, command] of names.entries()) {
      const call = { tool: "act", input: { command }, callId: command, step: 0, index };
      const after = index === 0 ? undefined : Promise.allSettled([...made]);
      made.push(turn.callTool({ ...call, after }));
    }
    const message = turn.message();
    message.append((await Promise.all(made)).map(({ status }) => status).join());
    await message.complete();
  },
};

const never = new Promise<never>(() => {});

/** A server over a directory whose key of answers is `key`. */
const serve = (
  root: string,
  key: string,
  options: Partial<ThreadServerOptions> = {},
  run?: () => Promise<JsonObject>,
) => {
  const act = recordingTool("act", "execute", run);
  const store = createFileThreadStore({ root, grantKeyPath: key, isOwnerDead: () => true });
  const server = openServer({ runner: stepRunner, tools: [act], store, ...options });
  const client = RawClient.connect(server);
  return { client, act, [Symbol.asyncDispose]: () => server.close() };
};

/** What a server leaves that is killed once these were allowed: a copy of its directory. */
const killedAfter = async (
  root: string,
  allowed: readonly string[],
  options?: Partial<ThreadServerOptions>,
) => {
  const key = join(root, "key");
  const begun = createDeferred<void>();
  await using first = serve(join(root, "first"), key, { limits: { cancelTimeoutMs: 1 }, ...options }, () => {
    begun.resolve();
    return never;
  });
  const { client } = first;
  const threadId = await client.createThread();
  const { result } = await client.startTurn(threadId);
  await vi.waitFor(() => expect(client.all("approval.requested")).toHaveLength(names.length));
  const idOf = (name: string): string =>
    client.all("approval.requested").find(({ metadata }) => metadata.input.command === name).requestId;
  for (const name of allowed) await client.answer(idOf(name));
  if (allowed.includes("one")) await begun.promise;
  const left = join(root, "left");
  await vi.waitFor(() => cp(join(root, "first"), left, { recursive: true }));
  const log = join(left, "threads", threadId, "events.jsonl");
  return { key, threadId, turnId: result.turnId as string, left, idOf, log };
};

const once = (client: RawClient, requestId: string) => client.answer(requestId);

const statuses = async (client: RawClient, threadId: string) =>
  ofType(await client.events(threadId), "item.completed").flatMap(({ data: { item } }) =>
    item.type === "tool_exec" ? [`${item.data?.input.command} ${item.data?.status}`] : [],
  );

it.each(["report", "retry"] as const)(
  "runs a call that was allowed before the server ended, in its place, when the others of its step are answered (%s)",
  async (interruptedTurns) => {
    const dir = await ownDirectory();
    const { key, threadId, turnId, left, idOf } = await killedAfter(dir, ["two"], { interruptedTurns });
    await using next = serve(left, key, { interruptedTurns });
    expect((await once(next.client, idOf("three"))).error).toBeUndefined();
    expect(next.act.runs).toEqual([]);
    await once(next.client, idOf("one"));
    expect((await next.client.turnEnd(turnId)).params.status).toBe("completed");
    expect(next.act.runs.map(({ command }) => command)).toEqual(names);
    expect(await statuses(next.client, threadId)).toEqual(names.map((name) => `${name} succeeded`));
    const events = await next.client.events(threadId);
    expect(ofType(events, "approval.requested")).toHaveLength(names.length);
    const starts = ofType(events, "item.started").map(({ data }) => data.itemId);
    expect(starts).toEqual([...new Set(starts)]);
    expect(ofType(events, "item.updated").map(({ data }) => data.item.data)).toMatchObject(
      names.map((command) => ({ input: { command }, status: "running" })),
    );
  },
);

it("runs what was allowed and had not begun with retry, without another question; what had begun is unknown", async () => {
  const dir = await ownDirectory();
  const options = { interruptedTurns: "retry" } as const;
  const { key, threadId, turnId, left } = await killedAfter(dir, ["three", "two", "one"], options);
  await using next = serve(left, key, options);
  expect((await next.client.turnEnd(turnId)).params.status).toBe("completed");
  expect(next.act.runs.map(({ command }) => command)).toEqual(["two", "three"]);
  expect(await statuses(next.client, threadId)).toEqual(["one unknown", "two succeeded", "three succeeded"]);
  expect(ofType(await next.client.events(threadId), "approval.requested")).toHaveLength(names.length);
});

it("ends with report a turn in which all was answered: what had begun is unknown, what had not is cancelled", async () => {
  const dir = await ownDirectory();
  const { key, threadId, left } = await killedAfter(dir, ["three", "two", "one"]);
  await using next = serve(left, key);
  expect((await next.client.events(threadId)).at(-1)).toMatchObject({
    type: "turn.error",
    data: { code: "interrupted" },
  });
  expect(next.act.runs).toEqual([]);
  const ended = await statuses(next.client, threadId);
  expect(ended).toEqual(["one unknown", "two cancelled", "three cancelled"]);
});

it.each<[string, (line: string) => string]>([
  ["has no seal", (line) => line.replace(/,"seal":"[0-9a-f]+"/, "")],
  ["was an answer to something else", (line) => line.replaceAll("would act", "would look")],
  ["was a rejection", (line) => line.replace('"decision":"once"', '"decision":"always"')],
])("asks again about a call whose recorded answer %s", async (_what, change) => {
  const dir = await ownDirectory();
  const options = { interruptedTurns: "retry" } as const;
  const { key, turnId, left, idOf, log } = await killedAfter(dir, ["two"], options);
  await changeAnswers(log, change);
  await using next = serve(left, key, options);
  await once(next.client, idOf("one"));
  await once(next.client, idOf("three"));
  const { params } = await next.client.notification("approval.requested");
  expect(params.metadata.input).toEqual({ command: "two" });
  expect(params.requestId).not.toBe(idOf("two"));
  await next.client.answer(params.requestId, "reject");
  expect((await next.client.turnEnd(turnId)).params.status).toBe("completed");
  expect(next.act.runs.map(({ command }) => command)).toEqual(["one", "three"]);
});

it("does not run what another user's server allowed, nor a call that was changed in the log", async () => {
  const dir = await ownDirectory();
  const options = { interruptedTurns: "retry" } as const;
  const { key, left, idOf, log, turnId } = await killedAfter(dir, ["two"], options);
  const others = join(dir, "others");
  await cp(left, others, { recursive: true });
  const text = await readFile(log, "utf8");
  await writeFile(log, text.replaceAll('"command":"two"', '"command":"two; rm"'));
  for (const [root, seal] of [
    [others, join(dir, "other-key")],
    [left, key],
  ] as const) {
    await using next = serve(root, seal, options);
    await once(next.client, idOf("one"));
    await once(next.client, idOf("three"));
    const { params } = await next.client.notification("approval.requested");
    await next.client.answer(params.requestId, "reject");
    await next.client.turnEnd(turnId);
    expect(next.act.runs.map(({ command }) => command)).toEqual(["one", "three"]);
  }
});
