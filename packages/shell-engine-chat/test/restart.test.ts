import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toApprovalPayload } from "@harnesskit/chat-harness";
import { createMemoryStore } from "@harnesskit/graph";
import { openContinuationStore, openSqliteStore } from "@harnesskit/store-sqlite";
import { createDeferred } from "@harnesskit/wire";
import { describe, expect, it } from "vitest";
import { type Answer, says } from "./support/scripted-model.ts";
import { askedIn, codeOf, sendTo, shown, start } from "./support/started.ts";

const askBob = says("Shall I?", sendTo("a", "bob"));

/** An engine whose conversations and continuations are in a file. */
const startOn = async (file: string, answers: readonly Answer[]) => {
  const store = await openSqliteStore({ file });
  const continuations = await openContinuationStore({ file });
  const chat = await start(answers, { store, continuations, continuationKey: continuations.key });
  return {
    ...chat,
    async [Symbol.asyncDispose]() {
      // What a response told is noted behind it.
      await expect.poll(async () => (await chat.harness.pending()).undelivered).toEqual([]);
      await chat[Symbol.asyncDispose]();
      await continuations.close();
      await store.close();
    },
  };
};

const inDirectory = async (test: (file: string) => Promise<void>): Promise<void> => {
  const directory = await mkdtemp(join(tmpdir(), "hk-shell-chat-"));
  try {
    await test(join(directory, "chat.sqlite"));
  } finally {
    await rm(directory, { recursive: true });
  }
};

describe("an engine that was started again", () => {
  it("takes the answer to what the one before it asked, once", () =>
    inDirectory(async (file) => {
      const asked = await (async () => {
        await using before = await startOn(file, [askBob]);
        return askedIn(await before.say("mail bob"));
      })();
      await (async () => {
        await using after = await startOn(file, [says("Sent.")]);
        expect(shown(await after.answer(asked, "approved"))).toEqual([
          '[send, 1 line ▸: {"text":"sent to bob"}]',
          "Sent.",
        ]);
        expect(codeOf(await after.answer(asked, "approved"))).toBe("continuation_used");
        expect(after.done).toEqual(["sent to bob"]);
      })();
      await using last = await startOn(file, []);
      expect(codeOf(await last.answer(asked, "approved"))).toBe("continuation_used");
      expect(last.done).toEqual([]);
      expect(shown(await last.post({}))).toEqual([]);
    }));

  it("is one of two over the same file: one of them takes the answer", () =>
    inDirectory(async (file) => {
      await using one = await startOn(file, [askBob, says("Sent.")]);
      await using other = await startOn(file, [says("Sent.")]);
      const asked = askedIn(await one.say("mail bob"));
      const again = askedIn(await other.post({}));
      const answers = await Promise.all([
        one.answer(asked, "approved"),
        other.answer(asked, "approved"),
        one.answer(again, "approved"),
        other.answer(again, "approved"),
      ]);
      expect(answers.map(codeOf).sort()).toEqual([
        "continuation_used",
        "continuation_used",
        "continuation_used",
        "success",
      ]);
      expect([...one.done, ...other.done]).toEqual(["sent to bob"]);
    }));

  it("asks anew where only the conversations were kept", () =>
    inDirectory(async (file) => {
      const store = await openSqliteStore({ file });
      const asked = await (async () => {
        await using before = await start([askBob], { store });
        return askedIn(await before.say("mail bob"));
      })();
      await using after = await start([says("Sent.")], { store });
      expect(codeOf(await after.answer(asked, "approved"))).toBe("invalid_continuation");
      const anew = askedIn(await after.post({}));
      expect(anew.directive.payload?.subject).toEqual(asked.directive.payload?.subject);
      expect(shown(await after.answer(anew, "approved")).at(-1)).toBe("Sent.");
      expect(after.done).toEqual(["sent to bob"]);
      await store.close();
    }));

  it("goes on with an answer that another process took and died over, and says that it is running", async () => {
    const store = createMemoryStore();
    await (async () => {
      await using before = await start([askBob], { store });
      askedIn(await before.say("mail bob"));
    })();
    await using after = await start([says("Sent.")], { store });
    const [record] = await store.suspensions.list({ status: "suspended" });
    const { invocation_id: invocationId = "", revision: expectedRevision = 0 } = record ?? {};
    const signal = {
      payload: toApprovalPayload({ decision: "approve" }),
      accepted_at: new Date(0).toISOString(),
    };
    await store.suspensions.save({ kind: "patch", invocationId, signal, expectedRevision });
    expect(shown(await after.post({}))).toEqual(["A call that was answered is still running."]);
    await expect.poll(async () => (await after.harness.pending()).undelivered.length).toBe(1);
    expect(shown(await after.post({}))).toEqual(['[tool, 1 line ▸: {"text":"sent to bob"}]', "Sent."]);
    expect(after.done).toEqual(["sent to bob"]);
  });

  it("tells an end once, however long it takes to note that it was told", async () => {
    const store = createMemoryStore();
    const { suspensions } = store;
    const load = suspensions.load.bind(suspensions);
    const noting = createDeferred<void>();
    suspensions.load = async (id) => {
      const record = await load(id);
      if (record?.status === "completed") await noting.promise;
      return record;
    };
    await using chat = await start([askBob, says("Sent.")], { store });
    const asked = askedIn(await chat.say("mail bob"));
    expect(shown(await chat.answer(asked, "approved")).at(-1)).toBe("Sent.");
    expect(shown(await chat.post({}))).toEqual([]);
    noting.resolve();
    await expect.poll(async () => (await chat.harness.pending()).undelivered).toEqual([]);
    expect(shown(await chat.post({}))).toEqual([]);
  });

  it("asks anew where the continuation has expired", async () => {
    await using chat = await start([askBob, says("Sent.")], { limits: { continuationMs: 1 } });
    const asked = askedIn(await chat.say("mail bob"));
    await expect.poll(async () => codeOf(await chat.answer(asked, "approved"))).toBe("continuation_expired");
    expect(shown(await chat.post({}))).toEqual(["request_approval: Run send?"]);
    expect(chat.done).toEqual([]);
  });
});
