import { describe, expect, it } from "vitest";
import type { Fault } from "../../../../test-kit/model-file-system.ts";
import { isNightly } from "../../../../test-kit/nightly.ts";
import { inTime, several } from "./judge.ts";
import { evidenceOf, Life, type TurnStep } from "./life.ts";
import { checkTurns, verifyRestart } from "./verify.ts";

/** The calls that can find a disk full, and those that can fail at all. */
const taking = /^(write|writeFile|open to write|mkdir|link)$/;
const changing = /^(write|writeFile|open to write|mkdir|link|rename|datasync|sync|truncate)$/;

/** Asks until it is answered; each refusal says that it was the storage. */
const insist = async (life: Life, method: string, params: object, known: readonly string[] = []) => {
  for (let attempt = 0; attempt < 100; attempt++) {
    const { result, error } = await life.client.call(method, params);
    if (result) return result;
    if (attempt > 0 && method === "thread.delete" && error?.code === -32001) return undefined;
    expect(error, `${method} while the disk fails`).toMatchObject({ code: -32603 });
    expect(["store_full", "store_failed"]).toContain(error?.data?.reason);
    if (method !== "thread.create" || error?.data?.reason !== "store_full") continue;
    // What a full disk refused is not there, nor half of it.
    const { result: list } = await life.client.call("thread.list");
    for (const { threadId } of list?.threads ?? []) expect(known, "the threads").toContain(threadId);
  }
  throw new Error(`${method} is never answered`);
};

/** Drives a turn to its end and answers what it asks as often as it takes. Returns how it ended. */
const driven = async (
  life: Life,
  threadId: string,
  name: string,
  steps: readonly TurnStep[],
): Promise<string> => {
  const input = [{ type: "text", text: JSON.stringify(steps) }];
  const { turnId } = await insist(life, "turn.start", { threadId, input, clientRequestId: name });
  const answered = new Set<string>();
  for (;;) {
    const { method, params } = await life.client.until(
      (message) =>
        message.params?.turnId === turnId &&
        (message.method === "turn.completed" ||
          message.method === "turn.error" ||
          (message.method === "approval.requested" && !answered.has(message.params.requestId))),
    );
    if (method === "turn.completed") return params.status;
    if (method === "turn.error") return params.code;
    answered.add(params.requestId);
    const [decision] = String(params.metadata.input.command).split("-");
    const answer = { requestId: params.requestId, decision, clientRequestId: `answer ${params.requestId}` };
    await insist(life, "approval.respond", answer);
  }
};

const work = async (life: Life): Promise<void> => {
  const { thread } = await insist(life, "thread.create", { clientRequestId: "first" });
  const { threadId } = thread;
  const ends = [
    await driven(life, threadId, "1", [
      { say: ["a ", "b"] },
      { tool: "read", command: "read-1" },
      { say: ["c"] },
    ]),
    await driven(life, threadId, "2", [
      { tool: "bash", command: "once-1" },
      { tool: "bash", command: "always-1" },
      { tool: "big", command: "big-1" },
      { say: ["d"] },
    ]),
  ];
  for (const end of ends) {
    expect(["completed", "store_full", "store_failed"], "how a turn ends while the disk fails").toContain(
      end,
    );
  }
  const other = await insist(life, "thread.create", { clientRequestId: "second" }, [threadId]);
  await insist(life, "thread.delete", { threadId: other.thread.threadId });
  const { threads } = await insist(life, "thread.list", {});
  expect(threads.map((each: { threadId: string }) => each.threadId)).toEqual([threadId]);

  // There is room again: the same server goes on.
  life.fileSystem.plan = () => undefined;
  expect(await driven(life, threadId, "3", [{ tool: "read", command: "read-2" }, { say: ["e"] }])).toBe(
    "completed",
  );
  const log = await life.client.events(threadId);
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
  expect(checkTurns(log)).toBeUndefined();
};

/** One of so many calls is tried. */
const oneOf = isNightly ? 1 : 25;

/** How the disk fails, and which calls it fails at. */
const outages: readonly [
  string,
  RegExp,
  (from: number) => (step: number, call: string) => Fault | undefined,
][] = [
  [
    "is full for one call",
    taking,
    (from) => (step, call) =>
      step === from && taking.test(call) ? { fault: "fail", code: "ENOSPC", half: true } : undefined,
  ],
  [
    "fails one call",
    changing,
    (from) => (step, call) =>
      step === from && changing.test(call) ? { fault: "fail", code: "EIO" } : undefined,
  ],
  [
    "fails all calls for a while",
    changing,
    (from) => (step, call) =>
      step >= from && step < from + 6 && changing.test(call)
        ? { fault: "fail", code: "EIO", half: true }
        : undefined,
  ],
  [
    "is full for a while",
    taking,
    (from) => (step, call) =>
      step >= from && step < from + 40 && taking.test(call)
        ? { fault: "fail", code: "ENOSPC", half: true }
        : undefined,
  ],
];

describe("a disk that", () => {
  it.each(outages)(
    "%s, at any call, costs an error that says so, and nothing is half-done",
    async (_name, hits, plan) => {
      const whole = new Life("A");
      await inTime(work(whole), "the work");
      const broken: string[] = [];
      await several(whole.fileSystem.journal.entries(), async ([from, { call }]) => {
        if (!hits.test(call) || from % oneOf !== 0) return;
        const life = new Life("A", { plan: plan(from) });
        try {
          await inTime(work(life), "the work");
          await life.server.close();
          const image = life.fileSystem.disk.survivors("written");
          const evidence = evidenceOf(life, Number.POSITIVE_INFINITY);
          await inTime(
            verifyRestart({ image, evidence, wholeLogSurvives: true, nextLife: "B" }),
            "the restart",
          );
        } catch (error) {
          broken.push(`${(error as Error).message.slice(0, 300)} (before step ${from} (${call}))`);
        }
      });
      expect(broken).toEqual([]);
    },
    isNightly ? 600_000 : 60_000,
  );
});
