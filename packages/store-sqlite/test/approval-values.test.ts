import { join } from "node:path";
import { type ApprovalStore, createMemoryApprovalStore } from "@harnesskit/approvals";
import { approveBy, sampleQuestion, takeBy } from "@harnesskit/approvals/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runs } from "../../../scripts/lib/nightly.ts";
import { temporaryDirectory } from "../../../scripts/lib/test-kit.ts";
import { openApprovalStore } from "../src/index.ts";
import { contentOf, fixedOptions } from "./support/approval-scenario.ts";
import { failed, outcomeOf } from "./support/outcome.ts";

const limits = {
  maxRecords: 5,
  maxOpen: 4,
  maxOpenPerSession: 3,
  maxGrants: 2,
  reportWithinMs: 50,
  useWithinMs: 90,
};

type Command = (store: ApprovalStore, advance: (byMs: number) => void) => Promise<unknown>;

const recordAt = async (store: ApprovalStore, index: number) => {
  const { records } = await store.page();
  return records[index % Math.max(1, records.length)];
};

const on =
  (index: number, act: (store: ApprovalStore, id: string, digest: string) => Promise<unknown>): Command =>
  async (store) => {
    const record = await recordAt(store, index);
    return record && act(store, record.id, record.digest);
  };

const index = fc.nat({ max: 5 });
const text = fc.constantFrom("a", "b", '"quoted"', "nul\u0000", "'; DROP TABLE approvals; --");
const command: fc.Arbitrary<Command> = fc.oneof(
  fc.tuple(text, text, fc.constantFrom(undefined, "c1", "c2")).map(
    ([session, value, callId]): Command =>
      (store) =>
        store.ask({
          ...sampleQuestion({ subject: { input: { value } } }),
          origin: { agent: "agent", session, ...(callId === undefined ? {} : { callId }) },
        }),
  ),
  fc.tuple(index, fc.boolean(), fc.boolean()).map(([at, isGrant, isPattern]) =>
    on(at, (store, id, digest) =>
      store.apply(id, {
        ...approveBy({ digest } as never),
        ...(isGrant
          ? { always: { reach: "agent", ...(isPattern ? { input: { value: { any: true } } } : {}) } }
          : {}),
      }),
    ),
  ),
  index.map((at) => on(at, (store, id, digest) => store.apply(id, takeBy({ digest } as never)))),
  index.map((at) => on(at, (store, id) => store.apply(id, { type: "withdraw", by: "agent" }))),
  index.map((at) =>
    on(at, (store, id) => store.apply(id, { type: "report", claimant: "hook-1", effect: "done" })),
  ),
  index.map(
    (at): Command =>
      async (store) => {
        const grants = await store.grants();
        const grant = grants[at % Math.max(1, grants.length)];
        return grant && store.revokeGrant(grant.id, "bob");
      },
  ),
  fc
    .record(
      {
        status: fc.constantFrom("pending" as const, "approved" as const, "expired" as const),
        effect: fc.constantFrom("none" as const, "claimed" as const, "ambiguous" as const),
        session: text,
        afterSeq: fc.nat({ max: 20 }),
        limit: fc.integer({ min: 1, max: 3 }),
      },
      { requiredKeys: [] },
    )
    .map(
      (options): Command =>
        (store) =>
          store.page(options),
    ),
  fc.constantFrom(10, 50).map(
    (byMs): Command =>
      async (_, advance) =>
        advance(byMs),
  ),
);

describe("approvals in a file", () => {
  it("are those that the same calls give in memory", async () => {
    await using directory = await temporaryDirectory();
    let files = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 40 }), async (commands) => {
        const [inMemory, inFile] = [fixedOptions(), fixedOptions()];
        const memory = createMemoryApprovalStore({ ...inMemory, limits });
        const file = join(directory.path, `${++files}.db`);
        const sqlite = await openApprovalStore({ file, ...inFile, limits, sync: "none" });
        for (const each of commands) {
          const expected = await outcomeOf(each(memory, inMemory.clock.advance));
          expect(await outcomeOf(each(sqlite, inFile.clock.advance))).toEqual(expected);
        }
        expect(await contentOf(sqlite)).toEqual(await contentOf(memory));
        await Promise.all([memory.close(), sqlite.close()]);
      }),
      { numRuns: runs(20) },
    );
  });

  it("refuse limits that are not valid, and records that the file cannot hold", async () => {
    await using directory = await temporaryDirectory();
    const file = join(directory.path, "store.db");
    const invalid = { name: "InvalidArgumentError", code: "invalid_argument" };
    expect(await outcomeOf(openApprovalStore({ file, limits: { maxOpen: 0 } }))).toEqual(invalid);
    expect(await outcomeOf(openApprovalStore({ file, limits: { maxSize: 1 } as never }))).toEqual(invalid);
    expect(await outcomeOf(openApprovalStore({ file: "" }))).toEqual(invalid);
    const store = await openApprovalStore({ file, limits: { maxValueLength: 1024 } });
    const large = sampleQuestion({ subject: { input: { command: "x".repeat(2000) } } });
    expect(await outcomeOf(store.ask(large))).toEqual(failed("too_large", "store_full"));
    expect((await store.page()).records).toEqual([]);
    await store.close();
  });
});
