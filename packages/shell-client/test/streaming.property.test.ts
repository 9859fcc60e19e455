import type { ShellCall } from "@harnesskit/shell-engine";
import { isMessageStream, type MessageStream, type StreamExchange } from "@harnesskit/wire";
import { createFaultyTransport, createMemoryTransport, type Fault } from "@harnesskit/wire/testing";
import fc from "fast-check";
import { expect, it } from "vitest";
import { runs } from "../../../scripts/lib/nightly.ts";
import { nextTurn } from "../../../scripts/lib/test-kit.ts";
import type { EngineCall } from "../src/engine.ts";
import type { EngineEndpoint, ShellStreamEvent } from "../src/index.ts";
import { createShellClient } from "../src/index.ts";
import { streamingEngine } from "./streaming-support.ts";
import { say } from "./support.ts";

/** What happens to the frame at a place, counted over all connections. */
type Mishap = "twice" | "cut";

/** The frames of an exchange, with mishaps at their places. */
const mangled = (engine: StreamExchange<unknown>, mishaps: ReadonlyMap<number, Mishap>): EngineEndpoint => {
  let place = 0;
  const mangle = async function* (frames: MessageStream): AsyncGenerator<unknown> {
    for await (const frame of frames) {
      const mishap = place === 0 ? undefined : mishaps.get(place);
      place++;
      if (mishap === "cut") return;
      yield frame;
      if (mishap === "twice") yield frame;
    }
  };
  return {
    handle: (message: unknown, call: EngineCall) => engine.handle(message, call),
    handleStream: async (message: unknown, call: EngineCall) => {
      const answer = await engine.handleStream(message, call);
      return isMessageStream(answer) ? mangle(answer) : answer;
    },
  } as StreamExchange<EngineCall>;
};

const words = fc.array(
  fc.oneof(fc.string({ unit: "binary", maxLength: 8 }), fc.constantFrom("😀", "\ud83d", "\n\n")),
  {
    minLength: 1,
    maxLength: 12,
  },
);
const places = fc.array(fc.tuple(fc.nat(30), fc.constantFrom<Mishap>("twice", "cut")), {
  maxLength: 12,
});

/** Sends one request whose handler says these words, and checks what a shell makes of it. */
const check = async (
  deltas: readonly string[],
  pauses: readonly boolean[],
  wrap: (
    engine: StreamExchange<unknown> & { connect: (channel: never) => void },
  ) => EngineEndpoint | Promise<EngineEndpoint>,
  mayCut: boolean,
) => {
  const intent = async ({ stream }: ShellCall) => {
    for (const [index, delta] of deltas.entries()) {
      stream.text(delta);
      if (pauses[index % Math.max(1, pauses.length)]) await nextTurn();
    }
    return [say("the answer")];
  };
  const { engine, calls } = streamingEngine(intent);
  const events: ShellStreamEvent[] = [];
  const shown: unknown[] = [];
  const shell = createShellClient({
    engine: await wrap(engine as never),
    executors: { render_message: ({ payload }) => void shown.push(payload?.message) },
    retry: { initialDelayMs: 0, maxAttempts: 50 },
    onStream: (event) => events.push(event),
  });
  const outcome = await shell.send({ intent: "go" });
  await shell.close();
  const all = deltas.join("");
  const text = events.map((event) => (event.type === "text" ? event.delta : "")).join("");
  expect([outcome.status, shown, calls.length]).toEqual(["success", ["the answer"], 1]);
  // Previews begin as the handler said them, each once; after a cut there are no more.
  expect(all.startsWith(text)).toBe(true);
  if (!mayCut) expect(text).toBe(all);
  expect(events.filter(({ type }) => type !== "text").map(({ type }) => type)).toEqual(["opened", "ended"]);
};

it("shows each preview once and in order, and the response once, where frames come twice or the exchange is cut", async () => {
  await fc.assert(
    fc.asyncProperty(words, fc.array(fc.boolean(), { maxLength: 4 }), places, (deltas, pauses, mishaps) =>
      check(
        deltas,
        pauses,
        (engine) => mangled(engine, new Map(mishaps)),
        mishaps.some(([, mishap]) => mishap === "cut"),
      ),
    ),
    { numRuns: runs(40) },
  );
});

it("shows them over channels that repeat and break", async () => {
  const kinds = fc.constantFrom<Fault["kind"]>("duplicate", "close_before", "close_after");
  const faults = fc.array(fc.tuple(fc.integer({ min: 1, max: 30 }), kinds), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(words, fc.array(fc.boolean(), { maxLength: 4 }), faults, (deltas, pauses, given) =>
      check(
        deltas,
        pauses,
        async (engine) => {
          const { transport, listener } = createMemoryTransport();
          await listener.listen((channel) => engine.connect(channel as never));
          const list = given.map(([index, kind]): Fault => ({ direction: "receive", index, kind }));
          return createFaultyTransport(transport, list);
        },
        given.some(([, kind]) => kind !== "duplicate"),
      ),
    ),
    { numRuns: runs(20) },
  );
});
