import { type GraphStore, type StoreBatch, StoreError } from "@harnesskit/graph";
import { describe, expect, it } from "vitest";
import { isNightly } from "../../../../test-kit/nightly.ts";
import type { CastOptions } from "./cast.ts";
import { judge, record } from "./judge.ts";
import { send, signal, story } from "./story.ts";

it("kill -9 at any moment of a conversation over a file loses, doubles and reorders nothing", async () => {
  const { broken, looked, torn, points } = await record(story);
  expect(broken).toEqual([]);
  const tried = points.filter((_, index) => isNightly || index % 9 === 0);
  const verdict = await judge(tried, story);
  const states = `${points.length} distinct states (${torn} within a write)`;
  process.stdout.write(`crashes of a chat: ${looked} points, ${states}, ${verdict.restarts} restarts\n`);
  expect(verdict).toEqual({ broken: [], restarts: tried.length });
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
    name: "a turn that is acknowledged and not written",
    disturb: (store) =>
      withCommit(store, async (batch) =>
        batch.suspension === undefined ? { session: { version: 1000 } } : store.commit(batch),
      ),
    found: /^s: chat s1 was acknowledged and is lost \(/,
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
