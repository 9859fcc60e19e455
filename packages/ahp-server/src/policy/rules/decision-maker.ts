import { type AhpEventType, ahpEvents, type DecisionFor } from "@harnesskit/protocol/ahp";
import type { EventView } from "../cel/event-view.ts";
import type { ExpressionProblem, Expressions } from "../cel/expressions.ts";
import type { Then, ThenObject } from "../file/policy-schema.ts";
import type { ProblemList } from "../file/read-policy-file.ts";
import type { YamlPath } from "../file/yaml-places.ts";
import { RuleError } from "../policy-error.ts";
import { misplacedIn } from "./payload-places.ts";
import { compileJson, compileTemplate, type JsonTemplate, type Template, withValueAt } from "./template.ts";

/** A decision of any event's type. */
export type AnyDecision = DecisionFor<AhpEventType>;

type Fields = Readonly<Record<string, unknown>>;

/** Words whose decision says why, in every type that has them. */
const withReason: ReadonlySet<string> = new Set(["block", "defer", "escalate", "reject", "skip"]);

/** The keys of a decision that its type keeps; undefined where it is no decision of the type. */
const keptBy = (type: AhpEventType, decision: Fields): ReadonlySet<string> | string => {
  const result = ahpEvents[type].decision.safeParse(decision);
  if (result.success) return new Set(Object.keys(result.data));
  const [issue] = result.error.issues;
  if (issue?.code === "invalid_union" || issue?.path[0] === "decision")
    return `${type} has no ${decision.decision}`;
  return `${issue?.path.join(".")}: ${issue?.message}`;
};

/** Which fields for an explanation a word of a type has. */
interface Room {
  readonly reason: boolean;
  readonly metadata: boolean;
}

const rooms = new Map<AhpEventType, Map<unknown, Room>>();
const noRoom: Room = { reason: false, metadata: false };

/** Where a decision of this type can say why. */
export const roomOf = (type: AhpEventType, decision: Fields): Room => {
  let words = rooms.get(type);
  if (!words) {
    words = new Map();
    rooms.set(type, words);
  }
  const known = words.get(decision.decision);
  if (known) return known;
  const kept = keptBy(type, { ...decision, reason: "", metadata: {} });
  // What lacks a field of its own tells nothing about its word.
  if (typeof kept === "string") return noRoom;
  const room = { reason: kept.has("reason"), metadata: kept.has("metadata") };
  words.set(decision.decision, room);
  return room;
};

export interface MakerOptions {
  readonly source: Then;
  /** Types of the events that are answered with it. */
  readonly types: readonly AhpEventType[];
  readonly path: YamlPath;
  readonly expressions: Expressions;
  readonly problems: ProblemList;
  /** The reason where the file says none. */
  readonly reason: string;
}

const isProblem = (value: Template | ExpressionProblem): value is ExpressionProblem => "offset" in value;

/** Makes the decision of one `then`. */
export class DecisionMaker {
  readonly word: string;
  readonly #fields: readonly (readonly [string, JsonTemplate])[];
  readonly #set: readonly (readonly [readonly string[], JsonTemplate])[];
  readonly #reason: Template | undefined;
  readonly #isFixed: boolean;
  /** Whether it makes the same decision of every event of a type. */
  readonly isSame: boolean;

  /** What is wrong goes to `problems`. */
  constructor(options: MakerOptions) {
    const { source: then, types, path, expressions, problems } = options;
    const source: ThenObject = typeof then === "string" ? { decision: then } : then;
    this.word = source.decision;
    const { decision, reason = options.reason, set, ...rest } = source;
    const template = (text: string, inner: YamlPath): Template | undefined => {
      const made = compileTemplate(text, (expression) => expressions.compile(expression, "any"));
      if (!isProblem(made)) return made;
      problems.addInText([...path, ...inner], text, made.offset, made.message);
      return undefined;
    };
    const says = source.reason !== undefined || withReason.has(decision);
    this.#reason = says ? template(reason, ["reason"]) : undefined;
    this.#fields = Object.entries(rest)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [key, compileJson(value, template, [key])] as const);
    this.#set = Object.entries(set ?? {}).map(
      ([place, value]) => [place.split("."), compileJson(value, template, ["set", place])] as const,
    );
    this.#isFixed =
      this.#set.length === 0 && this.#fields.every(([, field]) => field.isFixed) && decision !== "modify";
    this.isSame = this.#isFixed && (this.#reason?.isFixed ?? true);
    if (set && (decision !== "modify" || source.modified_payload !== undefined)) {
      problems.add([...path, "set"], "set goes with modify, instead of modified_payload");
    }
    warnOfPlaces(source, options);
    const sample: Record<string, unknown> = { ...rest, decision };
    if (says) sample.reason = reason;
    if (set) sample.modified_payload = {};
    const later = new Set(this.#fields.filter(([, field]) => !field.isFixed).map(([key]) => key));
    for (const type of types) checkSample(type, sample, later, options);
  }

  /** Throws {@link RuleError}. The reason is for people, and not yet bounded. */
  make(type: AhpEventType, view: EventView): Record<string, unknown> {
    const decision: Record<string, unknown> = { decision: this.word };
    for (const [key, field] of this.#fields) decision[key] = field.toValue(view);
    if (this.#set.length > 0) {
      let payload: unknown = view.event.payload;
      for (const [place, value] of this.#set) payload = withValueAt(payload, place, value.toValue(view));
      decision.modified_payload = payload;
    }
    if (this.#reason && roomOf(type, decision).reason) decision.reason = this.#reason.toText(view);
    // What was fixed was checked when the file was read.
    if (!this.#isFixed) {
      const kept = keptBy(type, decision);
      if (typeof kept === "string") throw new RuleError("policy_decision", kept);
    }
    return decision;
  }
}

/** Warns of changes of places that no event has: agents refuse what they cannot apply whole. */
const warnOfPlaces = (
  { decision, set, modified_payload: modified }: ThenObject,
  { types, path, problems }: MakerOptions,
): void => {
  if (decision !== "modify" && decision !== "allow") return;
  const isObject = typeof modified === "object" && modified !== null && !Array.isArray(modified);
  const places: readonly (readonly [string, string])[] = [
    ...Object.keys(set ?? {}).map((place) => ["set", place] as const),
    ...Object.keys(isObject ? modified : {}).map((key) => ["modified_payload", key] as const),
  ];
  for (const [field, place] of places) {
    const problem = misplacedIn(types, field === "set" ? place.split(".") : [place]);
    if (problem) problems.warn([...path, field], place, `${field}: ${problem}`);
  }
};

/** Checks a decision as the file has it; what fields in `later` come to is checked for each event. */
const checkSample = (
  type: AhpEventType,
  sample: Fields,
  later: ReadonlySet<string>,
  { path, problems, source: then }: MakerOptions,
): void => {
  const result = ahpEvents[type].decision.safeParse(sample);
  if (!result.success) {
    const isLater = (issue: { readonly path: readonly PropertyKey[] }): boolean =>
      later.has(String(issue.path[0]));
    if (!result.error.issues.every(isLater)) problems.add(path, String(keptBy(type, sample)));
    return;
  }
  const isSaid = typeof then !== "string" && then.reason !== undefined;
  for (const key of Object.keys(sample)) {
    if (key in result.data || sample[key] === undefined || (key === "reason" && !isSaid)) continue;
    problems.add([...path, key], `${sample.decision} of ${type} has no ${key}`);
  }
};
