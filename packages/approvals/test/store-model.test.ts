import { HarnessError } from "@harnesskit/wire";
import { createManualClock, type ManualClock } from "@harnesskit/wire/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../test-kit/nightly.ts";
import { type ApprovalEvent, type ApprovalStore, createMemoryApprovalStore } from "../src/index.ts";
import { approveBy, sampleQuestion } from "../src/testing/index.ts";

const limits = { maxOpen: 5, maxOpenPerSession: 3, answerWithinMs: 100, useWithinMs: 60, reportWithinMs: 40 };

/** A record as the test expects it, without the rules of the store: one word for its state, and when that ends. */
interface Expected {
  readonly session: string;
  readonly callId: string;
  readonly command: string;
  state: "pending" | "approved" | "rejected" | "delivered" | "claimed" | "ended" | "ambiguous" | "gone";
  untilMs: number;
  claimant?: string;
}

interface Model {
  nowMs: number;
  readonly records: Expected[];
}

interface Real {
  readonly store: ApprovalStore;
  readonly clock: ManualClock;
  readonly ids: string[];
}

const openStates = new Set(["pending", "approved", "claimed"]);

const pass = (model: Model, byMs: number) => {
  model.nowMs += byMs;
  for (const record of model.records) {
    if (!openStates.has(record.state) || model.nowMs < record.untilMs) continue;
    record.state = record.state === "claimed" ? "ambiguous" : "gone";
  }
};

const outcomeOf = async (call: Promise<unknown>): Promise<string> => {
  try {
    await call;
    return "ok";
  } catch (error) {
    if (HarnessError.isInstance(error)) return error.code;
    throw error;
  }
};

type Command = fc.AsyncCommand<Model, Real>;

/** A command: what the model expects, and what the store does. */
const command = (name: string, run: (model: Model, real: Real) => Promise<void>): Command => ({
  check: () => true,
  run,
  toString: () => name,
});

const ask = (session: string, callId: string, text: string): Command =>
  command(`ask ${session} ${callId} ${text}`, async (model, { store, ids }) => {
    const same = model.records.filter((each) => each.session === session && each.command === text);
    const isWaiting = ({ state, untilMs }: Expected) =>
      state === "pending" || state === "approved" || (state === "rejected" && model.nowMs < untilMs);
    const isKnown = same.some((each) => (each.callId === callId && each.state !== "gone") || isWaiting(each));
    const open = model.records.filter(({ state }) => openStates.has(state));
    const isFull = open.length >= 5 || open.filter((each) => each.session === session).length >= 3;
    const question = sampleQuestion({ origin: { session, callId }, subject: { input: { command: text } } });
    const asked = store.ask(question);
    expect(await outcomeOf(asked)).toBe(!isKnown && isFull ? "store_full" : "ok");
    if (!isKnown && isFull) return;
    const { how, record } = await asked;
    expect([how, record.subject.input]).toEqual([isKnown ? "found" : "created", { command: text }]);
    if (isKnown) return;
    ids.push(record.id);
    const untilMs = model.nowMs + limits.answerWithinMs;
    model.records.push({ session, callId, command: text, state: "pending", untilMs });
  });

/** A command on the record that is the `pick`th, modulo their number. */
const onRecord = (
  name: string,
  pick: number,
  event: (digest: string) => ApprovalEvent,
  step: (expected: Expected, model: Model) => string,
): Command =>
  command(`${name} ${pick}`, async (model, { store, ids }) => {
    const index = pick % Math.max(1, ids.length);
    const [expected, id] = [model.records[index], ids[index]];
    if (expected === undefined || id === undefined) return;
    const digest = (await store.get(id))?.digest ?? "";
    const wanted = step(expected, model);
    expect(await outcomeOf(store.apply(id, event(digest)))).toBe(wanted);
  });

const answer = (pick: number, decision: "approve" | "reject") =>
  onRecord(
    decision,
    pick,
    (digest) => ({ ...approveBy({ digest } as never), decision }),
    (expected, { nowMs }) => {
      if (expected.state === "gone") return "expired";
      if (expected.state !== "pending") return "already_answered";
      expected.state = decision === "approve" ? "approved" : "rejected";
      expected.untilMs = nowMs + limits.useWithinMs;
      return "ok";
    },
  );

const take = (pick: number, claimant: string) =>
  onRecord(
    `take by ${claimant}`,
    pick,
    (digest) => ({ type: "take", claimant, digest }),
    (expected, { nowMs }) => {
      if (expected.state === "pending") return "not_answered";
      if (expected.state === "gone") return "expired";
      if (expected.state !== "approved" && expected.state !== "rejected") return "already_taken";
      const isApproved = expected.state === "approved";
      expected.state = isApproved ? "claimed" : "delivered";
      expected.claimant = claimant;
      expected.untilMs = nowMs + limits.reportWithinMs;
      return "ok";
    },
  );

const report = (pick: number, claimant: string) =>
  onRecord(
    `report by ${claimant}`,
    pick,
    () => ({ type: "report", claimant, effect: "done" }),
    (expected) => {
      if (!["claimed", "ambiguous", "ended"].includes(expected.state)) return "not_claimed";
      if (expected.claimant !== claimant) return "not_claimant";
      if (expected.state === "ended") return "already_reported";
      expected.state = "ended";
      return "ok";
    },
  );

const advance = (byMs: number): Command =>
  command(`wait ${byMs}`, async (model, { clock }) => {
    clock.advance(byMs);
    pass(model, byMs);
  });

const states: Readonly<Record<string, readonly Expected["state"][]>> = {
  "pending none": ["pending"],
  "approved none": ["approved"],
  "rejected none": ["rejected", "delivered"],
  "approved claimed": ["claimed"],
  "approved done": ["ended"],
  "approved ambiguous": ["ambiguous"],
  "expired none": ["gone"],
};

const compare: Command = command("compare", async ({ records }, { store, ids }) => {
  for (const [index, id] of ids.entries()) {
    const record = await store.get(id);
    expect(states[`${record?.status} ${record?.effect}`]).toContain(records[index]?.state);
  }
});

const pick = fc.nat({ max: 7 });
const claimant = fc.constantFrom("h1", "h2");
const commands = fc.commands(
  [
    fc
      .tuple(fc.constantFrom("s1", "s2", "s3"), fc.constantFrom("c1", "c2"), fc.constantFrom("a", "b"))
      .map((args) => ask(...args)),
    fc
      .tuple(pick, fc.constantFrom("approve" as const, "approve" as const, "reject" as const))
      .map((args) => answer(...args)),
    fc.tuple(pick, claimant).map((args) => take(...args)),
    fc.tuple(pick, claimant).map((args) => report(...args)),
    fc.constantFrom(10, 40, 60).map(advance),
    fc.constant(compare),
  ],
  { maxCommands: 60 },
);

it("does what a model without its rules expects, in any order of calls", async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (list) => {
      const clock = createManualClock(1_000_000);
      const store = createMemoryApprovalStore({ clock, limits });
      await fc.asyncModelRun(
        () => ({ model: { nowMs: clock.now(), records: [] }, real: { store, clock, ids: [] } }),
        list,
      );
      await store.close();
    }),
    { numRuns: runs(60) },
  );
});
