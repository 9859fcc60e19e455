import { cp } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../../../test-kit/test-kit.ts";
import type { PromptVerdict } from "../src/gates.ts";
import { createThreadServer, type ThreadStore } from "../src/index.ts";
import { createFileThreadStore } from "../src/node/index.ts";
import { dyingStore } from "./support/failing-stores.ts";
import { ofType, RawClient } from "./support/raw-client.ts";
import { changeAnswers } from "./support/serve.ts";

const asks = (): PromptVerdict => ({ verdict: "ask", reason: "Unusual." });

/** A server with an agent that notes what it was given. */
const serve = (store: ThreadStore, before: () => PromptVerdict = asks) => {
  const given: unknown[] = [];
  const runner = { run: async ({ input }: { readonly input: unknown }) => void given.push(input) };
  const options = { interruptedTurns: "retry", limits: { cancelTimeoutMs: 1 } } as const;
  const server = createThreadServer({ runner, store, promptGate: { before }, ...options });
  return { server, client: RawClient.connect(server), given };
};

/** What a server leaves that is killed once the answer to its question about a prompt is stored. */
const killedAfter = async (root: string, decision: string) => {
  const grantKeyPath = join(root, "key");
  const files = createFileThreadStore({ root: join(root, "first"), grantKeyPath });
  const { store, died } = dyingStore(files, (events) =>
    events.some(({ type, data }) => type === "item.completed" && data.type === "approval")
      ? "after"
      : undefined,
  );
  const { client } = serve(store);
  const threadId = await client.createThread();
  const { result } = await client.startTurn(threadId, "odd");
  const { params } = await client.notification("approval.requested");
  const { requestId } = params;
  void client.answer(requestId, decision);
  await died;
  const left = join(root, "left");
  await cp(join(root, "first"), left, { recursive: true });
  await files.close();
  const next = (before?: () => PromptVerdict) =>
    serve(createFileThreadStore({ root: left, grantKeyPath, isOwnerDead: () => true }), before);
  const log = join(left, "threads", threadId, "events.jsonl");
  return { threadId, turnId: result.turnId as string, requestId: requestId as string, log, next };
};

const odd = [[{ type: "text", text: "odd" }]];

it.each([
  ["allowed", "once", { status: "completed" }, odd],
  ["refused", "reject", { code: "prompt.rejected" }, []],
])(
  "a prompt that a human %s is not asked about again where the server ended before the turn went on",
  async (_what, decision, end, heard) => {
    await using dir = await temporaryDirectory();
    const { threadId, turnId, next } = await killedAfter(dir.path, decision);
    const { server, client, given } = next();
    expect((await client.turnEnd(turnId)).params).toMatchObject(end);
    expect(given).toEqual(heard);
    expect(ofType(await client.events(threadId), "approval.requested")).toHaveLength(1);
    await server.close();
  },
);

it.each<[string, (line: string) => string]>([
  ["has no seal", (line) => line.replace(/,"seal":"[0-9a-f]+"/, "")],
  ["was an answer to another prompt", (line) => line.replaceAll('"text":"odd"', '"text":"even"')],
  ["was a refusal", (line) => line.replace('"decision":"once"', '"decision":"always"')],
])("a prompt whose recorded answer %s is asked about again", async (_what, change) => {
  await using dir = await temporaryDirectory();
  const { turnId, requestId, log, next } = await killedAfter(dir.path, "once");
  await changeAnswers(log, change);
  const { server, client, given } = next();
  const { params } = await client.notification("approval.requested");
  expect(params.requestId).not.toBe(requestId);
  expect(given).toEqual([]);
  await client.answer(params.requestId);
  expect((await client.turnEnd(turnId)).params).toMatchObject({ status: "completed" });
  expect(given).toEqual(odd);
  await server.close();
});
