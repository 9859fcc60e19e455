import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { sourceBundle } from "../../../test-kit/source-bundle.ts";
import { startToldProcess } from "../../../test-kit/told-process.ts";
import { newSchema } from "./support/schema.ts";

const bundle = await sourceBundle(new URL("./bundle-entry.ts", import.meta.url));

type Worker = Awaited<ReturnType<typeof startToldProcess>>;
type Policy = "forget" | "report" | "retry";

const minutes = 60_000;
/** Clocks of workers, which differ by ten minutes. */
const offsets = [0, -5 * minutes, 5 * minutes];

/** Workers over one schema, each with another time, and a file for what they do outside. */
const setUp = async (interruptedTurns: Policy, count = 2) => {
  const schema = await newSchema();
  const directory = await mkdtemp(join(tmpdir(), "harness-workers-"));
  const file = join(directory, "effects.txt");
  const workers: Worker[] = [];
  onTestFinished(async () => {
    for (const worker of workers) await worker[Symbol.asyncDispose]();
    await schema[Symbol.asyncDispose]();
    await rm(directory, { recursive: true, force: true });
  });
  const { graph } = await schema.open();
  const start = async (index: number) => {
    const options = { file, interruptedTurns, clockOffsetMs: offsets[index % offsets.length] };
    const script = new URL("./fixtures/chat-worker.mjs", import.meta.url);
    const worker = await startToldProcess(script, bundle, schema.url, schema.schema, JSON.stringify(options));
    workers.push(worker);
    return worker;
  };
  return {
    workers: await Promise.all(Array.from({ length: count }, (_, index) => start(index))),
    graph,
    history: async (session: string): Promise<string[]> => {
      const record = await graph.sessions.load(session);
      const messages = JSON.parse(JSON.stringify(record?.state.messages ?? [])) as { content: string }[];
      return messages.map(({ content }) => content);
    },
    effects: async (): Promise<string[]> =>
      (await readFile(file, "utf8").catch(() => "")).split("\n").filter((line) => line !== ""),
  };
};

/** Has the turns that other workers have left settled: once their leases have ended. */
const recover = (worker: Worker) =>
  vi.waitFor(
    async () => {
      const { result } = await worker.call("recover");
      expect(result).toMatchObject({ resumed_count: 1, failed_count: 0 });
    },
    { timeout: 20_000, interval: 200 },
  );

/** Starts a turn, and settles where it hangs. */
const atHold = async (worker: Worker, text: string): Promise<void> => {
  const hanging = worker.reached(-1);
  const ended = worker.call("send", "s", text).then((answer) => {
    throw new RangeError(`the turn has ended: ${JSON.stringify(answer)}`);
  });
  await Promise.race([hanging, ended]);
};

describe("workers of conversations over PostgreSQL, whose clocks differ by minutes", () => {
  it("turns of one session run one after the other, each message once and in the order of its worker", async () => {
    const { workers, history, effects } = await setUp("retry", 3);
    const texts = workers.map((_, worker) => Array.from({ length: 6 }, (__, index) => `${worker}-${index}`));
    const outcomes = await Promise.all(
      workers.map((worker, index) => worker.call("sendMany", "s", texts[index])),
    );
    for (const { result } of outcomes) expect(result).toEqual(Array(6).fill("completed"));
    const all = await history("s");
    expect(all).toHaveLength(3 * 6 * 3);
    const asked = all.filter((_, index) => index % 3 === 0);
    for (const [index, text] of asked.entries()) {
      expect(all.slice(3 * index, 3 * index + 3)).toEqual([text, `heard ${text}`, `did ${text}`]);
    }
    for (const own of texts) expect(asked.filter((text) => own.includes(text))).toEqual(own);
    expect((await effects()).sort()).toEqual(texts.flat().sort());
  });

  it("a turn of a killed worker goes on at another one, without its recorded effect, and its end reaches a listener", async () => {
    const { workers, history, effects, graph } = await setUp("retry", 3);
    const [dying, other, listening] = workers as [Worker, Worker, Worker];
    await listening.call("listen", "s");
    const heard = listening.reached(-2);
    await atHold(dying, "hold after one");
    await vi.waitFor(async () => expect(await effects()).toEqual(["hold after one"]));
    await vi.waitFor(async () => {
      const [run] = await graph.runs.list();
      const { entries } = (run && (await graph.runs.load(run.run_id))) ?? { entries: [] };
      expect(entries.some(({ kind }) => kind === "effect_done")).toBe(true);
    });
    await dying.kill();
    await recover(other);
    const end = (await heard) as unknown as { turn: object };
    expect(end.turn).toMatchObject({ outcome: "completed" });
    expect(await history("s")).toEqual(["hold after one", "heard hold after one", "did hold after one"]);
    expect(await effects()).toEqual(["hold after one"]);
    await vi.waitFor(async () => expect(await graph.suspensions.list({ isDelivered: false })).toEqual([]));
  });

  it("the next message of the session finds the turn of a killed worker first", async () => {
    const { workers, history } = await setUp("retry");
    const [dying, other] = workers as [Worker, Worker];
    await atHold(dying, "hold before one");
    await dying.kill();
    expect((await other.call("send", "s", "two")).result).toMatchObject({ outcome: "completed" });
    const turn = (text: string) => [text, `heard ${text}`, `did ${text}`];
    expect(await history("s")).toEqual([...turn("hold before one"), ...turn("two")]);
  });

  it("a turn of a killed worker is reported and not applied in half, if the policy says so", async () => {
    const { workers, history, effects } = await setUp("report");
    const [dying, other] = workers as [Worker, Worker];
    await other.call("listen", "s");
    const heard = other.reached(-2);
    await atHold(dying, "hold before one");
    await dying.kill();
    await recover(other);
    const end = (await heard) as unknown as { turn: object };
    expect(end.turn).toMatchObject({ outcome: "errored", error_category: "turn_interrupted" });
    expect(await history("s")).toEqual([]);
    expect(await effects()).toEqual([]);
  });

  it("a worker that was stopped past its lease and wakes writes nothing", async () => {
    const { workers, history, effects } = await setUp("retry");
    const [stopped, other] = workers as [Worker, Worker];
    const turn = stopped.call("sendMany", "s", Array(20).fill("x"));
    await vi.waitFor(async () => expect((await effects()).length).toBeGreaterThan(2));
    stopped.signal("SIGSTOP");
    const before = await history("s");
    // The other one waits for the lease, and settles the turn that it finds.
    expect((await other.call("send", "s", "mine")).result).toMatchObject({ outcome: "completed" });
    const after = await history("s");
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.slice(-3)).toEqual(["mine", "heard mine", "did mine"]);
    stopped.signal("SIGCONT");
    const outcomes = (await turn).result as string[];
    expect(outcomes).toHaveLength(20);
    const all = await history("s");
    // What comes behind are whole turns; the one that was under way is there once.
    expect(all.slice(0, after.length)).toEqual(after);
    const pairs = all.filter((_, index) => index % 3 === 0);
    for (const [index, text] of pairs.entries()) {
      expect(all.slice(3 * index, 3 * index + 3)).toEqual([text, `heard ${text}`, `did ${text}`]);
    }
    const completed = outcomes.filter((outcome) => outcome === "completed").length;
    const asked = pairs.filter((text) => text === "x").length;
    // Its caller heard of an error for the turn that another worker went on with.
    expect(asked - completed).toBeLessThanOrEqual(1);
    expect(asked).toBeGreaterThanOrEqual(completed);
  });

  it("a suspend on one worker resumes on another, and the end reaches a listener on a third, or is kept", async () => {
    const { workers, history, graph } = await setUp("retry", 3);
    const [one, other, third] = workers as [Worker, Worker, Worker];
    expect((await one.call("send", "s", "ask a")).result).toMatchObject({ outcome: "suspended" });
    expect((await one.call("send", "t", "ask b")).result).toMatchObject({ outcome: "suspended" });
    await one.kill();
    await third.call("listen", "s");
    const heard = third.reached(-2);
    expect((await other.call("signal", "go ask a")).result).toMatchObject({ outcome: "resumed" });
    const end = (await heard) as unknown as { turn: object };
    expect(end.turn).toMatchObject({ outcome: "completed" });
    expect(await history("s")).toEqual(["ask a", "heard ask a", "did ask a"]);
    // No one listens to the other session: its end waits.
    expect((await other.call("signal", "go ask b")).result).toMatchObject({ outcome: "resumed" });
    expect(await graph.suspensions.list({ sessionId: "t", isDelivered: false })).toHaveLength(1);
    const late = third.reached(-2);
    await third.call("listen", "t");
    expect(((await late) as unknown as { turn: object }).turn).toMatchObject({ outcome: "completed" });
    await vi.waitFor(async () => expect(await graph.suspensions.list({ isDelivered: false })).toEqual([]));
  });
});
