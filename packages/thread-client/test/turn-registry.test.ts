import type { EventBody } from "@harnesskit/protocol/threads";
import { ConnectionClosedError } from "@harnesskit/wire";
import { expect, it } from "vitest";
import { defaultClientLimits } from "../src/limits.ts";
import { LiveTurn } from "../src/turn-handle.ts";
import { TurnRegistry } from "../src/turn-registry.ts";
import { collect, eventsOf } from "./sample-events.ts";

const turn = eventsOf("ses_1", "turn_1");
const other = eventsOf("ses_1", "turn_2");

const liveTurn = () =>
  new LiveTurn({
    turnId: "turn_1",
    threadId: "ses_1",
    limits: defaultClientLimits,
    onApproval: undefined,
    signal: undefined,
    cancel: () => Promise.resolve(),
    onEnd: () => {},
    onError: () => {},
  });

it("hands over what was held although the connection closed before the answer was read", async () => {
  const registry = new TurnRegistry(defaultClientLimits, () => {});
  registry.expect("ses_1");
  for (const event of [turn.started(), turn.completed()]) registry.route(event);
  registry.close(new ConnectionClosedError());
  const live = liveTurn();
  expect(registry.adopt(live)).toBe(true);
  expect(await live.result).toMatchObject({ status: "completed" });
  expect(await collect(live)).toEqual([turn.started(), turn.completed()]);
});

it("passes on in order what was held for nobody, and tells whose the rest is", () => {
  const seen: [EventBody, string | undefined][] = [];
  const registry = new TurnRegistry(defaultClientLimits, (event, owner) => seen.push([event, owner?.turnId]));
  registry.expect("ses_1");
  registry.expect("ses_1");
  for (const event of [other.started(), turn.started(), other.completed()]) registry.route(event);
  expect(seen).toEqual([]);
  expect(registry.adopt(liveTurn())).toBe(true);
  expect(seen).toEqual([[turn.started(), "turn_1"]]);
  registry.release("ses_1");
  registry.route(turn.completed());
  expect(seen.slice(1)).toEqual([
    [other.started(), undefined],
    [other.completed(), undefined],
    [turn.completed(), "turn_1"],
  ]);
});
