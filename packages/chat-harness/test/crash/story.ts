import type { Cast, Step } from "./cast.ts";

export const sessionIds = ["s", "t"];

const client = (cast: Cast, id: string) => {
  const found = cast.clients[id];
  if (found === undefined) throw new Error(`${id} has no client`);
  return found;
};

export const send = (id: string, text: string): Step => ({
  name: `${id} sends ${text}`,
  run: (cast) => client(cast, id).send(text),
});

export const signal = (id: string, text: string, stage?: string): Step => ({
  name: `${id} signals ${stage ?? "go"} of ${text}`,
  run: (cast) => client(cast, id).signal(text, stage),
});

/** A conversation with all that can happen to a turn. Each line is done when it is acknowledged. */
export const story: readonly Step[] = [
  send("s", "chat s1"),
  send("s", "ask s2"),
  send("s", "chat s3"), // between a pause and its signal
  signal("s", "ask s2"),
  signal("s", "ask s2"), // delivered again
  send("s", "twice s4"),
  send("t", "job t1"),
  signal("s", "twice s4", "first"), // it pauses again
  signal("s", "twice s4", "first"), // an old signal, while it waits for the next one
  signal("s", "twice s4", "second"),
  send("s", "ask s5"),
  {
    name: "s signals ask s5 twice at once",
    run: async (cast) => {
      await Promise.all([client(cast, "s").signal("ask s5"), client(cast, "s").signal("ask s5")]);
    },
  },
  { name: "nobody listens to t", run: (cast) => cast.unlisten("t") },
  signal("t", "job t1"), // its end stays undelivered
  { name: "a new process", run: (cast) => cast.restart() },
  { name: "t listens again", run: (cast) => cast.listen("t") }, // and is told of what was undelivered
  send("s", "chat s6"),
];
