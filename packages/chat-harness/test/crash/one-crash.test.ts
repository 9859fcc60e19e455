import { type GraphStore, type StoreBatch, StoreError } from "@harnesskit/graph";
import { describe, expect, it } from "vitest";
import type { CastOptions } from "./cast.ts";
import { judge, record } from "./judge.ts";
import { checkNow, type Ledger, type Reading, takeApart } from "./shared.ts";
import { send, signal, story } from "./story.ts";

it("kill -9 at any moment of a conversation over a file loses, doubles and reorders nothing", async () => {
  const { broken, looked, torn, points } = await record(story);
  expect(broken).toEqual([]);
  const verdict = await judge(points, story);
  const states = `${points.length} distinct states (${torn} within a write)`;
  process.stdout.write(`crashes of a chat: ${looked} points, ${states}, ${verdict.restarts} restarts\n`);
  expect(verdict).toEqual({ broken: [], restarts: points.length });
  expect(points.length).toBeGreaterThan(100);
}, 120_000);

const conversation = [send("s", "chat s1"), send("s", "ask s2"), signal("s", "ask s2"), send("s", "chat s3")];

const isEnd = ({ suspension }: StoreBatch): boolean =>
  suspension?.kind === "patch" && suspension.status !== undefined;

interface Fault {
  readonly name: string;
  readonly disturb: NonNullable<CastOptions["disturb"]>;
  /** What the checker says of it. */
  readonly found: RegExp;
}

const withCommit = (store: GraphStore, commit: GraphStore["commit"]): GraphStore => ({ ...store, commit });

const faults: readonly Fault[] = [
  {
    name: "a commit in two parts, the session first",
    disturb: (store) =>
      withCommit(store, async ({ session, suspension, leases = [] }) => {
        if (session === undefined || suspension === undefined) {
          return store.commit({ ...(session && { session }), ...(suspension && { suspension }), leases });
        }
        return {
          ...(await store.commit({ session, leases })),
          ...(await store.commit({ suspension, leases })),
        };
      }),
    found: /^s: what waits in the history: found \["ask s2: go"\], expected \[\] \(.*commit\)$/,
  },
  {
    name: "a commit in two parts, the session last",
    disturb: (store) =>
      withCommit(store, async ({ session, suspension, leases = [] }) => {
        if (session === undefined || suspension === undefined) {
          return store.commit({ ...(session && { session }), ...(suspension && { suspension }), leases });
        }
        return {
          ...(await store.commit({ suspension, leases })),
          ...(await store.commit({ session, leases })),
        };
      }),
    found: /^s: what waits in the history: found \[\], expected \["ask s2: go"\] \(.*commit\)$/,
  },
  {
    name: "a turn that is acknowledged and not written",
    disturb: (store) =>
      withCommit(store, async (batch) =>
        batch.suspension === undefined ? { session: { version: 1000 } } : store.commit(batch),
      ),
    found: /^s: chat s1 was acknowledged and is lost \(/,
  },
  {
    name: "a resumed turn whose session is written and whose end is not",
    disturb: (store) =>
      withCommit(store, async (batch) => {
        if (batch.session === undefined || !isEnd(batch)) return store.commit(batch);
        return { ...(await store.commit({ session: batch.session })), suspension: { revision: 1000 } };
      }),
    found: /^s: what waits in the history: found \[\], expected \["ask s2: go"\]/,
  },
  {
    name: "an end that counts as delivered before anybody is told",
    disturb: (store) =>
      withCommit(store, (batch) => {
        if (batch.suspension?.kind !== "patch" || !isEnd(batch)) return store.commit(batch);
        return store.commit({ ...batch, suspension: { ...batch.suspension, isDelivered: true } });
      }),
    found: /^s: the end of i1-\d+ counts as delivered and reached no listener/,
  },
  {
    name: "a lease that a dead process holds on and on",
    disturb: (store) => ({
      ...store,
      leases: {
        acquire: (key, options) => store.leases.acquire(key, { ...options, ttlMs: options.ttlMs * 100 }),
      },
    }),
    found: /^it waits for longer than the lease of a dead process holds/,
  },
];

describe("the checker of crashes finds", () => {
  it.each(faults)("$name", async ({ disturb, found }) => {
    const { points } = await record(conversation, disturb);
    const { broken } = await judge(points, conversation, 1);
    expect(broken).toEqual([expect.stringMatching(found)]);
  });

  it("a store that fails while the story is told", async () => {
    const { broken } = await record(conversation, (store) => ({
      ...store,
      sessions: {
        ...store.sessions,
        load: async () => {
          throw new StoreError("store_failed", "as told");
        },
      },
    }));
    expect(broken).toEqual([expect.stringMatching(/^chat s1 gave .*session_load_failed/)]);
  });
});

const heard = (text: string) => ({ role: "user", text });
const told = (text: string) => ({ role: "assistant", text });
const turn = (text: string) => [heard(text), told(`you said ${text}`)];
const asked = [heard("ask a"), told("go of ask a?")];

describe("the checker refuses a history", () => {
  it.each([
    ["with half a turn", [heard("chat a")], /half a turn/],
    ["with a turn inside of another", [heard("chat a"), ...turn("chat b"), told("you said chat a")], /half/],
    ["with a reply twice", [...turn("chat a"), told("you said chat a")], /belongs to no turn/],
    ["that was done before it was asked", [told("did ask a with 1"), ...asked], /without being asked/],
    ["that was done twice", [...asked, told("did ask a with 1"), told("did ask a with 1")], /done twice/],
    ["with a second question alone", [told("second of twice a?")], /without the first question/],
  ])("%s", (_, history, found) => {
    expect(() => takeApart({ sessionId: "s", history })).toThrow(
      expect.objectContaining({ name: "Violation", message: expect.stringMatching(found) }),
    );
  });

  const sent = (text: string, tried = 1, isAcknowledged = true) => ({
    text,
    tried,
    isAcknowledged,
    invocationId: null,
  });
  const ledgerOf = (...sends: Ledger["sends"]): Ledger => ({
    sessionId: "s",
    life: 1,
    sends,
    signals: [],
    told: [],
  });
  const readingOf = (...texts: string[]): Reading => ({
    sessionId: "s",
    history: texts.flatMap(turn),
    effects: [],
    heard: texts.length,
    records: [],
  });

  it.each([
    ["that lacks what was acknowledged", readingOf("chat b"), [sent("chat a"), sent("chat b")], /is lost/],
    ["in another order", readingOf("chat b", "chat a"), [sent("chat a"), sent("chat b")], /stored behind/],
    ["with a message twice that was sent once", readingOf("chat a", "chat a"), [sent("chat a")], /2 times/],
    ["with what nobody has sent", readingOf("chat x"), [], /never sent/],
    [
      "that another number was counted for",
      { ...readingOf("chat a"), heard: 2 },
      [sent("chat a")],
      /counted/,
    ],
    [
      "with an effect that nobody signalled",
      { ...readingOf(), effects: ["i | x | 1"] },
      [],
      /effects of signals/,
    ],
    ["with an effect twice", { ...readingOf(), effects: ["i | x | 1", "i | x | 2"] }, [], /effect twice/],
  ])("%s", (_, reading, sends, found) => {
    expect(() => checkNow(reading, ledgerOf(...sends))).toThrow(
      expect.objectContaining({ name: "Violation", message: expect.stringMatching(found) }),
    );
  });

  it("and takes one with a message twice that was sent twice, and one without what was not acknowledged", () => {
    const sends = [sent("chat a", 2), sent("chat b", 1, false)];
    expect(() => checkNow(readingOf("chat a", "chat a"), ledgerOf(...sends))).not.toThrow();
    expect(() => checkNow(readingOf("chat a", "chat b"), ledgerOf(...sends))).not.toThrow();
  });
});
