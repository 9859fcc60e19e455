// biome-ignore lint/suspicious/noExplicitAny: JSON that deviations take apart.
export type Json = any;

/** What a graph threw, with its category. */
export class Thrown {
  constructor(
    readonly category: string,
    readonly message: string,
  ) {}
}

/** A script that ran to its end. */
export const END_OF_SCRIPT = Symbol("end of script");

const isMapping = (value: Json): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const demand = (isMet: boolean): void => {
  if (!isMet) throw new Thrown("reducer_error", "the reducer cannot take the update");
};

const reducers: Readonly<Record<string, (prior: Json, update: Json) => Json>> = {
  messages: (prior, update) => [...prior, ...update],
  list: (prior, update) => [...prior, ...update],
  map: (prior, update) => {
    demand(isMapping(update));
    return { ...prior, ...update };
  },
  flat: (prior, update) => {
    demand(update.every(Array.isArray));
    return [...prior, ...update.flat()];
  },
  all: (prior, update) => {
    demand(update.every(isMapping));
    return Object.assign({}, prior, ...update);
  },
  bounded: (prior, update) => (update.length === 0 ? prior : [...prior, ...update].slice(-3)),
  unique: (prior, update) => [...new Set([...prior, ...update])],
  keyed: (prior, update) => {
    demand(update.every(isMapping) && update.every((item: Json) => item.id !== undefined));
    const items = [...prior];
    for (const item of update) {
      const at = items.findLastIndex(({ id }) => id === item.id);
      items.splice(at < 0 ? items.length : at, 1, item);
    }
    return items;
  },
};

/** What the reducer of a field makes of an update. Throws a {@link Thrown} that says reducer_error. */
export const reduce = (name: string, prior: Json, update: Json): Json => {
  const reducer = reducers[name];
  if (reducer === undefined) return update;
  if (name !== "map") demand(Array.isArray(update));
  return reducer(prior, update);
};

const declared = ["note", "answer", "scratch", ...Object.keys(reducers)];

/** Merges an update into the state. */
const apply = (state: Json, update: Json, skips: (rule: string) => boolean, others: Json = {}): void => {
  for (const [name, value] of Object.entries<Json>(update)) {
    if (!declared.includes(name)) {
      if (skips("undeclared")) continue;
      throw new Thrown("state_validation_error", `${name} is not declared`);
    }
    const isText = name !== "note" || typeof value === "string";
    const isItems =
      name !== "list" || !Array.isArray(value) || value.every((item) => typeof item === "string");
    if (!(isText && isItems) && !skips("validation"))
      throw new Thrown("state_validation_error", `${name} is not valid`);
    const isReducible =
      reducers[name] === undefined || (name === "map" ? isMapping(value) : Array.isArray(value));
    if (!isReducible && skips("reducer-error")) continue;
    state[name] = others[name] ? others[name](state[name], value) : reduce(name, state[name], value);
  }
};

/** What a script asks for, where it paused. */
export interface Pause {
  readonly descriptor: Json;
  /** What the node returned although it had paused. */
  readonly drop: string | undefined;
}

/** Runs the steps of `state.script` from `state.cursor`, and changes the state. Throws what the graph throws. */
export const runScript = async (
  state: Json,
  skips: (rule: string) => boolean,
  save: (state: Json) => void,
  others: Readonly<Record<string, (prior: Json, update: Json) => Json>> = {},
): Promise<typeof END_OF_SCRIPT | Pause> => {
  const merge = (update: Json) => apply(state, update, skips, others);
  const say = (content: string) => merge({ messages: [{ role: "assistant", content }] });
  const branch = (): void => {
    if (state.note === "throw")
      throw new Thrown(skips("edge") ? "node_exception" : "edge_exception", "no way");
    if (state.note === "nowhere") {
      if (skips("routing")) return;
      throw new Thrown("routing_error", "there is no such node");
    }
    if (!skips("edges")) say(`at ${state.note}`);
  };
  let isResumed = state.isResumed === true;
  delete state.isResumed;
  if (isResumed && state.pausedBranch) branch();
  state.pausedBranch = false;
  while (state.cursor < state.script.length) {
    const step = state.script[state.cursor];
    state.cursor += 1;
    if ("say" in step) say(step.say);
    if ("add" in step) merge({ messages: step.add });
    if ("count" in step) say(String(state.messages.length));
    if ("set" in step) merge(step.set);
    if ("show" in step) say(String(state[step.show]));
    if ("wait_ms" in step) await new Promise((resolve) => setTimeout(resolve, step.wait_ms));
    if ("save" in step && !skips("save-in-the-middle")) {
      if (!skips("saves-update")) merge(step.save);
      save(state);
      state.isSaved = true;
    }
    if ("fail" in step) {
      const { category = "node_exception", message, wrapped } = step.fail;
      const isHidden = wrapped !== undefined && skips("chain");
      throw new Thrown(isHidden ? "node_exception" : category, message);
    }
    if ("ask" in step) {
      if (step.again && isResumed) {
        if (!skips("again")) say(`again: ${state.answer}`);
      } else {
        if (step.again) state.cursor -= 1;
        if (skips("marked")) state.cursor = state.script.length;
        if (step.drop !== undefined && skips("dropped")) say(step.drop);
        if (step.branch !== true || skips("edge-at-resume")) return { descriptor: step.ask, drop: step.drop };
        state.pausedBranch = true;
        return { descriptor: step.ask, drop: step.drop };
      }
    } else if ("branch" in step) {
      merge({ note: step.branch });
      branch();
    }
    isResumed = false;
  }
  return END_OF_SCRIPT;
};

/** What the message of a user says that the graph does. */
export const scriptOf = ({ content }: Json): Json => {
  try {
    return { script: JSON.parse(content).conformance ?? [], cursor: 0 };
  } catch {
    return { script: [], cursor: 0 };
  }
};

/** What is wrong with the graphs that do not compile. */
export const broken: Readonly<Record<string, string>> = {
  "no-entry": "no_declared_entry",
  unreachable: "unreachable_node",
  dangling: "dangling_edge",
  "two-edges": "multiple_outgoing_edges",
  "no-edge": "missing_outgoing_edge",
  "two-nodes": "duplicate_node",
  "no-limit": "reducer_configuration_invalid",
};
