import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { GraphStore } from "@harnesskit/graph";
import { openSqliteStore } from "@harnesskit/store-sqlite";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { buildSourceBundle } from "../../../scripts/lib/source-bundle.ts";
import { startToldProcess } from "../../../scripts/lib/told-process.ts";
import { createChatHarness } from "../src/index.ts";
import { approval, historyOf, says, user } from "./support/graphs.ts";
import { texts } from "./support/texts.ts";

const pay = { signalId: "approve pay", payload: { approved: true } };
const harnessProcess = new URL("./fixtures/harness-process.mjs", import.meta.url);
let bundle: Awaited<ReturnType<typeof buildSourceBundle>>;

beforeAll(async () => {
  const store = import.meta.resolve("@harnesskit/store-sqlite");
  const libsql = pathToFileURL(createRequire(store).resolve("libsql")).href;
  bundle = await buildSourceBundle(new URL("./bundle-entry.ts", import.meta.url), { libsql });
});
afterAll(() => bundle.remove());

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

describe("Over a file", () => {
  it("a conversation goes on where the last process has left it", async () => {
    const file = await tempFile();
    const first = await openSqliteStore({ file });
    const before = createChatHarness({ graph: approval(), store: first });
    await before.send("s", user("chat 1"));
    await before.send("s", user("pay"));
    await before.close();
    await first.close();
    const harness = createChatHarness({ graph: approval(), store: await openStore(file) });
    expect((await harness.pending("s")).suspended).toMatchObject([
      { signal_descriptor: { signal_id: "approve pay", metadata: { kind: "approval" } } },
    ]);
    expect(texts(await harness.send("s", user("chat 2")))).toEqual(["you said chat 2"]);
    expect(await harness.signal(pay)).toMatchObject({
      outcome: "resumed",
      turn: { replies: [says("done")] },
    });
    expect(await harness.signal(pay)).toEqual({ outcome: "already_resolved" });
    const heard: unknown[] = [];
    harness.subscribe("s", (turn) => heard.push(turn));
    await vi.waitFor(() =>
      expect(heard).toEqual([
        { outcome: "completed", replies: [says("done")], dispatch_path: "signal_resume" },
      ]),
    );
    const history = ["chat 1", "you said chat 1", "pay", "may I pay?", "chat 2", "you said chat 2", "done"];
    expect(await said(file)).toEqual(history);
  });

  it("a turn that a killed process was resuming is gone on with by the next one", async () => {
    const file = await tempFile();
    const dying = await startToldProcess(harnessProcess, bundle.path, file);
    expect(await dying.call("send", "s", "pay")).toMatchObject({ result: { outcome: "suspended" } });
    const inside = dying.reached(-1);
    void dying.call("hang", pay);
    await inside;
    await dying.kill();
    const store = await openStore(file);
    const session = { leaseTtlMs: 400, leaseWaitMs: 20_000 };
    const harness = createChatHarness({ graph: approval(), store, session });
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
