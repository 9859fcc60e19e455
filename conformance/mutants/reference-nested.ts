import { END_OF_SCRIPT, type Json, type Pause } from "./reference-script.ts";

/** The graphs with a graph inside: which of their fields go in and out, by the names inside. */
export const nestedGraphs: Readonly<
  Record<string, { in: readonly string[]; out: Readonly<Record<string, string>> }>
> = {
  nested: { in: [], out: { list: "list", note: "note", answer: "answer" } },
  "nested-inputs": { in: ["note"], out: { list: "list", note: "note", answer: "answer" } },
  "nested-outputs": { in: [], out: { answer: "note" } },
  "nested-projects": { in: ["note"], out: { list: "list" } },
  "nested-wait": { in: ["note"], out: { list: "list", note: "note", answer: "answer" } },
};

/** Runs such a graph, from its pause if it has paused, and changes the state. */
export const runNested = (
  graph: string,
  state: Json,
  skips: (rule: string) => boolean,
): typeof END_OF_SCRIPT | Pause => {
  const { in: goesIn = [], out = {} } = nestedGraphs[graph] ?? {};
  const takesNote = skips("nothing-in") || (goesIn.includes("note") && !skips("inputs"));
  const isResumed = state.inner !== undefined && !skips("goes-on-inside");
  if (!isResumed) {
    state.list = [...state.list, "before"];
    state.note = state.messages.findLast(({ role }: Json) => role === "user").content;
    const note = takesNote ? state.note : "inner";
    state.inner = { note, answer: "inner answer", list: [`saw ${note}`] };
    if (graph === "nested-wait" && !skips("pauses-inside"))
      return { descriptor: { signal_id: note }, drop: undefined };
  } else state.inner.answer = state.answer;
  const { inner } = state;
  inner.list = [...inner.list, `after ${inner.answer}`];
  const all = { list: "list", note: "note", answer: "answer" };
  const comesOut =
    graph === "nested-outputs" && skips("outputs")
      ? { ...all, ...out }
      : graph === "nested-projects" && skips("boundary")
        ? all
        : out;
  for (const [name, to] of Object.entries(comesOut))
    state[to] = name === "list" && to === "list" ? [...state.list, ...inner.list] : inner[name];
  state.list = [...state.list, "behind"];
  delete state.inner;
  return END_OF_SCRIPT;
};
