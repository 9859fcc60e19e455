import { type ActionType, coreActionTypes } from "./core-actions.ts";
import type { ActionDirective } from "./directive.ts";
import { parseWith } from "./parsed.ts";

const marker = Symbol.for("harnesskit.error");

/** A type of action that cannot be registered: `invalid_action_type` or `duplicate_action_type`. */
export class ActionRegistryError extends Error {
  override readonly name = "ActionRegistryError";
  readonly [marker] = true;

  constructor(
    readonly code: "invalid_action_type" | "duplicate_action_type",
    message: string,
  ) {
    super(message);
  }
}

/** What is wrong with a directive, by a type's rules. Nothing of what the payload holds is in it. */
export interface DirectiveProblem {
  readonly code: "unknown_action_type" | "payload_missing" | "payload_invalid";
  /** Where in the payload, as `payload.rows.0`. */
  readonly path: string;
}

/** The types of actions that an engine may send, or a shell can carry out. */
export interface ActionRegistry {
  /** The names, the core types' first. */
  readonly types: readonly string[];
  /** The features that some type needs. */
  readonly capabilities: ReadonlySet<string>;
  get(type: string): ActionType | undefined;
  /** What keeps a directive from being one of its type. */
  problemOf(directive: ActionDirective): DirectiveProblem | undefined;
}

/** The type with its defaults. */
const complete = (definition: ActionType): ActionType => ({
  ...definition,
  needsPayload: definition.needsPayload ?? !definition.payload.safeParse({}).success,
});

const payloadProblem = (known: ActionType, { payload }: ActionDirective): DirectiveProblem | undefined => {
  if (payload === undefined) {
    return known.needsPayload ? { code: "payload_missing", path: "payload" } : undefined;
  }
  const parsed = parseWith(known.payload, payload);
  if ("data" in parsed) return undefined;
  return { code: "payload_invalid", path: parsed.path === "" ? "payload" : `payload.${parsed.path}` };
};

/**
 * Makes a registry of the core types and of one's own. A core type's name replaces what is known of that type, whose payload the
 * specification leaves open; it keeps its capability unless another one is named. Names with a reverse-DNS or dotted prefix are
 * recommended (section 12); any other name is accepted. Throws `ActionRegistryError`: `invalid_action_type` for a name that is
 * empty or not a string, `duplicate_action_type` for one that is given twice.
 */
export const createActionRegistry = (own: readonly ActionType[] = []): ActionRegistry => {
  const known = new Map(coreActionTypes.map((definition) => [definition.type, complete(definition)]));
  const given = new Set<string>();
  for (const definition of own) {
    const { type } = definition;
    if (given.has(type)) {
      throw new ActionRegistryError("duplicate_action_type", `the action type ${type} is registered already`);
    }
    if (typeof type !== "string" || type === "") {
      throw new ActionRegistryError(
        "invalid_action_type",
        "`type` of an action type must be a string that is not empty",
      );
    }
    given.add(type);
    const capability = known.get(type)?.capability;
    known.set(type, complete({ ...definition, capability: definition.capability ?? capability }));
  }
  const capabilities = [...known.values()].flatMap(({ capability }) => capability ?? []);
  return {
    types: [...known.keys()],
    capabilities: new Set(capabilities),
    get: (type) => known.get(type),
    problemOf(directive) {
      const definition = known.get(directive.action_type);
      if (!definition) return { code: "unknown_action_type", path: "action_type" };
      return payloadProblem(definition, directive);
    },
  };
};
