import type { EventBody } from "@harnesskit/protocol/threads";
import { ConnectionClosedError, createDeferred } from "@harnesskit/wire";
import { expect, it } from "vitest";
import { clientLimits } from "../src/limits.ts";
import { Turns } from "../src/turns.ts";
import { collect, eventsOf } from "./sample-events.ts";

const turn = eventsOf("ses_1", "turn_1");
const other = eventsOf("ses_1", "turn_2");

const setUp = () => {
  const seen: [EventBody, string | undefined][] = [];
  const answers: ReturnType<typeof createDeferred<{ turnId: string }>>[] = [];
  const turns = new Turns(
    {
      error: undefined,
      limits: clientLimits.defaults,
      require: () => {},
      report: () => {},
      has: () => false,
      whenSettled: async () => {},
      call() {
        const answer = createDeferred<{ turnId: string }>();
        answers.push(answer);
        return answer.promise as Promise<never>;
      },
    },
    { follow: () => expect.fail("the server has no subscriptions"), release: () => {} },
    (event, owner) => seen.push([event, owner?.turnId]),
  );
  const start = () => turns.start({ threadId: "ses_1", input: "x" });
  return { turns, start, answers, seen };
};

it("hands over what was held although the connection closed before the answer was read", async () => {
  const { turns, start, answers } = setUp();
  const starting = start();
  await Promise.resolve();
  for (const event of [turn.started(), turn.completed()]) turns.route(event);
  turns.close(new ConnectionClosedError());
  answers[0]?.resolve({ turnId: "turn_1" });
  const live = await starting;
  expect(await live.result).toMatchObject({ status: "completed" });
  expect(await collect(live)).toEqual([turn.started(), turn.completed()]);
});

it("passes on in order what was held for no turn of this client, and tells whose the rest is", async () => {
  const { turns, start, answers, seen } = setUp();
  const [first, second] = [start(), start()];
  await Promise.resolve();
  for (const event of [other.started(), turn.started(), other.completed()]) turns.route(event);
  expect(seen).toEqual([]);
  answers[0]?.resolve({ turnId: "turn_1" });
  await first;
  expect(seen).toEqual([[turn.started(), "turn_1"]]);
  answers[1]?.reject(new ConnectionClosedError());
  await expect(second).rejects.toMatchObject({ code: "connection_closed" });
  turns.route(turn.completed());
  expect(seen.slice(1)).toEqual([
    [other.started(), undefined],
    [other.completed(), undefined],
    [turn.completed(), "turn_1"],
  ]);
});
