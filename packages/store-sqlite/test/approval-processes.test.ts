import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { type ApprovalRecord, createMemoryApprovalStore } from "@harnesskit/approvals";
import { approveBy, sampleQuestion, takeBy } from "@harnesskit/approvals/testing";
import { describe, expect, it } from "vitest";
import { sourceBundle } from "../../../test-kit/source-bundle.ts";
import { temporaryDirectory, until } from "../../../test-kit/test-kit.ts";
import { startToldProcess } from "../../../test-kit/told-process.ts";
import { openApprovalStore } from "../src/index.ts";
import { approvalSteps, contentOf, fixedOptions } from "./support/approval-scenario.ts";

const fixture = (name: string) => new URL(`./fixtures/${name}.mjs`, import.meta.url);
const bundle = await sourceBundle(new URL("./bundle-entry.ts", import.meta.url));

const startTwo = async (limits = {}) => {
  const directory = await temporaryDirectory();
  const file = join(directory.path, "approvals.db");
  const start = () => startToldProcess(fixture("approval-process"), bundle, file, JSON.stringify(limits));
  const [one, other] = await Promise.all([start(), start()]);
  return {
    file,
    one,
    other,
    async [Symbol.asyncDispose]() {
      await Promise.all([one[Symbol.asyncDispose](), other[Symbol.asyncDispose]()]);
      await directory[Symbol.asyncDispose]();
    },
  };
};

/** A question that a process of its own has stored. */
const asked = async (process: Awaited<ReturnType<typeof startTwo>>["one"]): Promise<ApprovalRecord> =>
  ((await process.call("ask", sampleQuestion())).result as { record: ApprovalRecord }).record;

describe("two processes with one file of approvals", () => {
  it("count one of a hundred answers, and one of their claims", async () => {
    await using both = await startTwo();
    const record = await asked(both.one);
    const of = (index: number) => (index % 2 === 0 ? both.one : both.other);
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        of(index).call("apply", record.id, approveBy(record, `human-${index}`)),
      ),
    );
    const codes = answers.map(({ code }) => code ?? "counts").sort();
    expect(codes).toEqual([...Array(99).fill("already_answered"), "counts"]);
    const claims = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        of(index).call("apply", record.id, takeBy(record, `hook-${index}`)),
      ),
    );
    expect(claims.map(({ code }) => code ?? "has it").sort()).toEqual([
      ...Array(19).fill("already_taken"),
      "has it",
    ]);
  });

  it("see a killed claimant's action as ambiguous, and never as done", async () => {
    await using both = await startTwo({ reportWithinMs: 300, watchPollMs: 20 });
    const store = await openApprovalStore({ file: both.file, limits: { watchPollMs: 20 } });
    const seen: string[] = [];
    const watched = (async () => {
      for await (const { status, effect } of store.watch()) seen.push(`${status} ${effect}`);
    })();
    const record = await asked(both.one);
    await both.other.call("apply", record.id, approveBy(record));
    await both.one.call("apply", record.id, takeBy(record, "one"));
    await both.one.kill();
    await until(() => seen.at(-1) === "approved ambiguous", "the watcher sees it");
    expect(seen).not.toContain("approved done");
    expect((await both.other.call("apply", record.id, takeBy(record, "other"))).code).toBe("already_taken");
    await store.close();
    await watched;
  });
});

/** The output of a process that dies after a number of statements, and the signal that ended it. */
const runUntil = async (file: string, statement: number) => {
  const args = [fileURLToPath(fixture("approve-and-die")), bundle, file, String(statement)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  const closed = once(child, "close");
  const lines = (await text(child.stdout)).trim().split("\n");
  return { lines, signal: (await closed)[1] as string | null };
};

it("a process that is killed at any write leaves each step whole or not begun", async () => {
  const memory = createMemoryApprovalStore(fixedOptions());
  const contents = [await contentOf(memory)];
  for (const step of approvalSteps) {
    await step(memory);
    contents.push(await contentOf(memory));
  }
  await using directory = await temporaryDirectory();
  const whole = await runUntil(join(directory.path, "whole.db"), Number.MAX_SAFE_INTEGER);
  expect(whole.signal).toBe(null);
  const count = Number(whole.lines.at(-1)?.split(" ")[1]);
  const reached = new Set<number>();
  const killAt = async (statement: number) => {
    const file = join(directory.path, `${statement}.db`);
    const { lines, signal } = await runUntil(file, statement);
    expect(signal).toBe("SIGKILL");
    const acknowledged = Number(lines.at(-1));
    const store = await openApprovalStore({ file, ...fixedOptions() });
    const content = await contentOf(store);
    await store.close();
    const after = contents.findIndex((each) => JSON.stringify(each) === JSON.stringify(content));
    expect([acknowledged, acknowledged + 1]).toContain(after);
    reached.add(after);
  };
  expect(count).toBeGreaterThan(approvalSteps.length * 2);
  for (let statement = 1; statement <= count; statement += 4) {
    await Promise.all(
      [0, 1, 2, 3].flatMap((more) => (statement + more <= count ? [killAt(statement + more)] : [])),
    );
  }
  expect([...reached].sort((a, b) => a - b)).toEqual(contents.map((_, index) => index));
});
