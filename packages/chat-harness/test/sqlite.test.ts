import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GraphStore } from "@harnesskit/graph";
import { openSqliteStore } from "@harnesskit/store-sqlite";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { sourceBundle } from "../../../test-kit/source-bundle.ts";
import { startToldProcess } from "../../../test-kit/told-process.ts";
import { createChatHarness } from "../src/index.ts";
import { approval, historyOf, says, user } from "./support/graphs.ts";

const pay = { signalId: "approve pay", payload: { approved: true } };
const harnessProcess = new URL("./fixtures/harness-process.mjs", import.meta.url);
const bundle = await sourceBundle(new URL("./bundle-entry.ts", import.meta.url));

/** A file of its own, gone at the end of the test. */
const tempFile = async (): Promise<string> => {
  const directory = await mkdtemp(join(tmpdir(), "chat-harness-test-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return join(directory, "chat.db");
};

const openStore = async (file: string): Promise<GraphStore> => {
  const store = await openSqliteStore({ file });
  onTestFinished(() => store.close());
  return store;
};

/** The texts said in a session, read by another opening of the file. */
const said = async (file: string): Promise<string[]> => historyOf(await openStore(file), "s");

const chats = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `chat ${name}${index}`);

describe("Over a file", () => {
  it("turns of one session in two processes run one after the other", async () => {
    const file = await tempFile();
    const harness = createChatHarness({ graph: approval(), store: await openStore(file) });
    await using other = await startToldProcess(harnessProcess, bundle, file);
    const [ours, theirs] = [chats("a", 10), chats("b", 10)];
    const [own, answer] = await Promise.all([
      Promise.all(ours.map((text) => harness.send("s", user(text)))),
      other.call("sendMany", "s", theirs),
    ]);
    expect([...own.map(({ outcome }) => outcome), ...(answer.result as string[])]).toEqual(
      Array(20).fill("completed"),
    );
    const history = await said(file);
    const pairs = history.flatMap((text, index) => (index % 2 === 0 ? [[text, history[index + 1]]] : []));
    expect(pairs.every(([text, reply]) => reply === `you said ${text}`)).toBe(true);
    const asked = pairs.map(([text]) => text);
    expect(asked.filter((text) => text?.startsWith("chat a"))).toEqual(ours);
    expect(asked.filter((text) => text?.startsWith("chat b"))).toEqual(theirs);
  });

  it("a signal that arrives in two processes many times resumes once", async () => {
    const file = await tempFile();
    const harness = createChatHarness({ graph: approval(), store: await openStore(file) });
    await using other = await startToldProcess(harnessProcess, bundle, file);
    await harness.send("s", user("pay"));
    const [own, answer] = await Promise.all([
      Promise.all(Array.from({ length: 20 }, () => harness.signal(pay))),
      other.call("signalMany", pay, 20),
    ]);
    const outcomes = [...own.map(({ outcome }) => outcome), ...(answer.result as string[])];
    expect(outcomes.filter((outcome) => outcome === "resumed")).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === "already_resolved")).toHaveLength(39);
    expect(await said(file)).toEqual(["pay", "may I pay?", "done"]);
  });

  it("a listener hears of a turn that another process has resumed", async () => {
    const file = await tempFile();
    const store = await openSqliteStore({ file, limits: { endPollMs: 20 } });
    onTestFinished(() => store.close());
    const harness = createChatHarness({ graph: approval(), store });
    await using other = await startToldProcess(harnessProcess, bundle, file);
    const heard: unknown[] = [];
    const unsubscribe = harness.subscribe("s", (turn) => heard.push(turn));
    harness.subscribe("another", (turn) => heard.push(turn));
    await harness.send("s", user("pay"));
    expect((await other.call("signal", pay)).result).toMatchObject({ outcome: "resumed" });
    await vi.waitFor(async () => expect((await harness.pending()).undelivered).toEqual([]));
    expect(heard).toEqual([
      { outcome: "completed", replies: [says("done")], dispatch_path: "signal_resume" },
    ]);
    unsubscribe();
  });

  it("a turn that a killed process was resuming is gone on with by the next one", async () => {
    const file = await tempFile();
    // Long enough that a busy machine renews it, and short enough to be waited for.
    const dying = await startToldProcess(harnessProcess, bundle, file, "3000");
    expect(await dying.call("send", "s", "pay")).toMatchObject({ result: { outcome: "suspended" } });
    const inside = dying.reached(-1);
    void dying.call("hang", pay);
    await inside;
    await dying.kill();
    const store = await openStore(file);
    const harness = createChatHarness({ graph: approval(), store });
    const heard: unknown[] = [];
    harness.subscribe("s", (turn) => heard.push(turn));
    expect((await harness.pending()).suspended).toMatchObject([{ is_signal_accepted: true }]);
    // It waits until the leases of the one that was killed have run out.
    expect(await harness.recover()).toMatchObject({ resumed_count: 1, failed_count: 0 });
    expect(heard).toEqual([
      { outcome: "completed", replies: [says("done")], dispatch_path: "signal_resume" },
    ]);
    await vi.waitFor(async () => expect((await harness.pending()).undelivered).toEqual([]));
    expect(await said(file)).toEqual(["pay", "may I pay?", "done"]);
    expect((await harness.pending()).suspended).toEqual([]);
  });
});
