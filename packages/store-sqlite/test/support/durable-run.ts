import { appendFileSync } from "node:fs";
import { append, defineGraph, defineState, END, type GraphStore } from "@harnesskit/graph";
import type { Clock } from "@harnesskit/wire";
import * as z from "zod";

/** Three nodes whose progress is recorded: one may be repeated, one has an effect, and the last has only itself. */
export const durableRun = (
  store: GraphStore,
  clock: Clock,
  /** Each line is something that happened outside. */
  effects: string,
  /** Called where a node has done its work and nothing of it is recorded. */
  onDone: (node: string) => void = () => {},
) => {
  const happen = (what: string) => {
    appendFileSync(effects, `${what}\n`);
    onDone(what);
  };
  return defineGraph(defineState({ log: append(z.string()) }))
    .node(
      "read",
      () => {
        happen("read");
        return { log: ["read"] };
      },
      { idempotent: true },
    )
    .node(
      "pay",
      async (_, { effect }) => {
        await effect("charge", () => {
          happen("charge");
          return "charged";
        });
        onDone("pay");
        return { log: ["pay"] };
      },
      { idempotent: true },
    )
    .node("ship", () => {
      happen("ship");
      return { log: ["ship"] };
    })
    .edge("read", "pay")
    .edge("pay", "ship")
    .edge("ship", END)
    .entry("read")
    .compile({ store, clock, durability: "node", session: { concurrency: "lease" } });
};
