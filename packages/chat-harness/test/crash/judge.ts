import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { GraphStore } from "@harnesskit/graph";
import { createManualClock, type ManualClock } from "@harnesskit/wire/testing";
import { nextTurn } from "../../../../test-kit/test-kit.ts";
import { Cast, type CastOptions, type Evidence, leasePollMs, leaseTtlMs, type Step } from "./cast.ts";
import { type CrashPoint, CrashPoints } from "./crash-points.ts";
import { checkEnd, checkNow, readSession } from "./shared.ts";
import { sessionIds } from "./story.ts";

const startMs = 1_800_000_000_000;

/** Runs what is given in a directory of its own. */
const inDirectory = async <T>(run: (directory: string) => Promise<T>): Promise<T> => {
  const directory = await mkdtemp(join(tmpdir(), "chat-crash-"));
  try {
    return await run(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
};

/**
 * Waits for work, and moves the time on where nothing else goes on. `stepsOf` tells how much has gone on. Nothing waits for longer than
 * the leases of a dead process hold.
 */
const inLeaseTime = async <T>(work: Promise<T>, clock: ManualClock, stepsOf: () => number): Promise<T> => {
  let isSettled = false;
  const settled = work.finally(() => {
    isSettled = true;
  });
  settled.catch(() => {});
  const limitMs = clock.now() + leaseTtlMs + 2 * leasePollMs;
  while (!isSettled) {
    const before = stepsOf();
    for (let rounds = 0; rounds < 3 && !isSettled; rounds++) await nextTurn(3);
    if (isSettled || stepsOf() !== before) continue;
    if (clock.now() > limitMs) throw new Error("it waits for longer than the lease of a dead process holds");
    clock.advance(leasePollMs);
  }
  return settled;
};

export interface Recorded {
  readonly looked: number;
  readonly torn: number;
  readonly points: readonly CrashPoint<Evidence>[];
  /** What the clients themselves have found wrong, and where the story ended for it. */
  readonly broken: string[];
}

/** Tells a story once, in one process that might be killed at any moment. */
export const record = (steps: readonly Step[], disturb?: CastOptions["disturb"]): Promise<Recorded> =>
  inDirectory(async (directory) => {
    const file = join(directory, "chat.db");
    const broken: string[] = [];
    const points: CrashPoints<Evidence> = new CrashPoints(file, () => cast.evidence);
    const cast: Cast = new Cast({
      file,
      clock: createManualClock(startMs),
      sessionIds,
      at: (label) => points.look(label),
      onClosed: () => points.release(),
      ...(disturb === undefined ? {} : { disturb }),
    });
    try {
      await cast.begin(async () => {});
      await cast.tell(steps);
    } catch (error) {
      broken.push((error as Error).message);
    }
    points.look("the end");
    await cast.stop();
    return { looked: points.looked, torn: points.torn, points: points.points, broken };
  });

/** What a crash has left to be done or not to be done again. */
interface Left {
  readonly suspended: readonly string[];
  readonly delivered: readonly string[];
}

/** Looks at what a crash has left, beside what the clients know. */
const lookAt = async (store: GraphStore, { ledgers }: Evidence): Promise<Left> => {
  for (const ledger of Object.values(ledgers)) {
    checkNow(await readSession(store, ledger.sessionId), ledger);
  }
  const records = await store.suspensions.list();
  const idsOf = (wanted: typeof records) => wanted.map(({ invocation_id: id }) => id);
  const ended = records.filter(({ status }) => status !== "suspended");
  return {
    suspended: idsOf(records.filter(({ status }) => status === "suspended")),
    delivered: idsOf(ended.filter((record) => record.is_delivered)),
  };
};

/** Looks again, when the clients have done what was left. */
const lookAgain = async (cast: Cast, before: Evidence, { delivered }: Left): Promise<void> => {
  const [first] = cast.broken;
  if (first !== undefined) throw first;
  for (const [id, ledger] of Object.entries(cast.evidence.ledgers)) {
    checkEnd(await readSession(cast.store, id), ledger);
    const lives = before.ledgers[id]?.life ?? 0;
    const again = ledger.told.find((each) => each.life > lives && delivered.includes(each.invocationId));
    if (again !== undefined) throw new Error(`${again.invocationId} was delivered and is told again`);
  }
};

/** Nobody holds what was in use when the process died. */
const demandNoLeases = async (store: GraphStore, { suspended }: Left): Promise<void> => {
  const keys = [
    ...sessionIds.map((id) => `session:${id}`),
    ...suspended.flatMap((id) => [`signal:${id}`, `invocation:${id}`]),
  ];
  for (const key of keys) await (await store.leases.acquire(key, { ttlMs: 1 })).release();
};

/** What comes after the restart. */
const finish = async (cast: Cast, steps: readonly Step[], isRecoveredFirst: boolean): Promise<void> => {
  const recover = async () => {
    const { failed_count: failed } = await cast.harness.recover();
    if (failed > 0) throw new Error(`${failed} turns cannot be gone on with`);
  };
  if (isRecoveredFirst) await recover();
  await cast.tell(steps);
  for (const client of Object.values(cast.clients)) await client.answerStrangers();
  await recover();
  await nextTurn(3);
};

/**
 * Opens what a crash has left, looks at it, lets the clients do the rest, and looks again. Every second time, the new process first
 * goes on with what was accepted; the other times clients come first. Rejects where something is wrong.
 */
const restart = (
  { files, evidence }: CrashPoint<Evidence>,
  story: readonly Step[],
  isRecoveredFirst: boolean,
): Promise<void> =>
  inDirectory(async (directory) => {
    const file = join(directory, "chat.db");
    for (const [ending, bytes] of Object.entries(files)) {
      if (bytes !== undefined) await writeFile(`${file}${ending}`, bytes, { mode: 0o600 });
    }
    const clock = createManualClock(startMs);
    let steps = 0;
    const at = () => {
      steps++;
    };
    const cast = new Cast({ file, clock, sessionIds, evidence: structuredClone(evidence), at });
    const life = async (): Promise<Left> => {
      const left = await cast.begin((store) => lookAt(store, evidence));
      await finish(cast, story, isRecoveredFirst);
      return left;
    };
    try {
      const left = await inLeaseTime(life(), clock, () => steps);
      await lookAgain(cast, evidence, left);
      await cast.harness.close();
      clock.advance(leaseTtlMs);
      await demandNoLeases(cast.store, left);
    } finally {
      await cast.stop();
    }
  });

export interface Verdict {
  readonly broken: readonly string[];
  readonly restarts: number;
}

/** Restarts after each crash, until so many have gone wrong. Gives what was wrong, each with its crash. */
export const judge = async (
  points: readonly CrashPoint<Evidence>[],
  steps: readonly Step[],
  maxBroken = 10,
): Promise<Verdict> => {
  const broken: string[] = [];
  let restarts = 0;
  for (const [index, point] of points.entries()) {
    if (broken.length >= maxBroken) break;
    try {
      await restart(point, steps, index % 2 === 0);
      restarts++;
    } catch (error) {
      broken.push(`${(error as Error).message.slice(0, 300)} (${point.label})`);
    }
  }
  return { broken, restarts };
};
