import { type AhpEventType, ahpEvents } from "@harnesskit/protocol/ahp";
import type { EventView } from "../cel/event-view.ts";
import type { Then, ThenObject } from "../file/policy-schema.ts";
import type { YamlPath } from "../file/policy-source.ts";
import { RuleError } from "../policy-error.ts";
import type { CompileParts } from "./condition.ts";
import { keysOfDecision, roomFor } from "./decision-form.ts";
import { misplacedIn } from "./payload-places.ts";
import { compileJson, compileTemplate, type JsonTemplate, type Template } from "./template.ts";

/** In the metadata of a decision: the host of a hook need not ask its own user. */
const skipHostPromptField = "skip_host_prompt";

/** Words whose decision states a reason, in every type that has them. */
const withReason: ReadonlySet<string> = new Set(["block", "defer", "escalate", "reject", "skip"]);

export interface DecisionMakerOptions extends CompileParts {
  readonly source: Then;
  /** Types of the events that are answered with it. */
  readonly types: readonly AhpEventType[];
  readonly path: YamlPath;
  /** The reason where the file states none. */
  readonly reason: string;
}

/** Makes the decision of one `then`. */
export class DecisionMaker {
  readonly word: string;
  readonly #fields: readonly (readonly [string, JsonTemplate])[];
  readonly #set: readonly (readonly [readonly string[], JsonTemplate])[];
  readonly #reason: Template | undefined;
  /** Whether the decision was checked when the file was read. */
  readonly #isFixed: boolean;

  /** Problems are added to `problems`. */
  constructor(options: DecisionMakerOptions) {
    const { source: then, path, expressions, problems } = options;
    const source: ThenObject = typeof then === "string" ? { decision: then } : then;
    const { decision, reason = options.reason, set = {}, skipHostPrompt, ...others } = source;
    const rest = skipHostPrompt
      ? { ...others, metadata: { ...others.metadata, [skipHostPromptField]: true } }
      : others;
    const template = (text: string, inner: YamlPath): Template | undefined => {
      const made = compileTemplate(text, (expression) => expressions.compile(expression, "any"));
      if (!("offset" in made)) return made;
      problems.addInText([...path, ...inner], text, made);
      return undefined;
    };
    const fields = Object.entries(rest).filter(([, value]) => value !== undefined);
    this.word = decision;
    const hasReason = source.reason !== undefined || withReason.has(decision);
    this.#reason = hasReason ? template(reason, ["reason"]) : undefined;
    this.#fields = fields.map(([key, value]) => [key, compileJson(value, template, [key])]);
    this.#set = Object.entries(set).map(([place, value]) => [
      place.split("."),
      compileJson(value, template, ["set", place]),
    ]);
    const open = this.#fields.filter(([, field]) => !field.isFixed).map(([key]) => key);
    this.#isFixed = open.length === 0 && decision !== "modify";
    if (source.set && (decision !== "modify" || source.modified_payload !== undefined))
      problems.add([...path, "set"], "set goes with modify, instead of modified_payload");
    if (skipHostPrompt && (decision !== "allow" || options.types.some((type) => type !== "pre_action")))
      problems.add([...path, "skipHostPrompt"], "skipHostPrompt goes with allow of pre_action");
    if (options.isChecked) return;
    warnOfPlaces(source, options);
    const sample: Record<string, unknown> = { ...rest, decision };
    if (hasReason) sample.reason = reason;
    if (source.set) sample.modified_payload = {};
    for (const type of options.types) checkSample(type, sample, new Set(open), options);
  }

  /** Throws {@link RuleError}. The reason is for people, and not yet bounded. */
  make(view: EventView): Record<string, unknown> {
    const { event } = view;
    const decision: Record<string, unknown> = { decision: this.word };
    for (const [key, field] of this.#fields) decision[key] = field.toValue(view);
    if (this.#set.length > 0) {
      decision.modified_payload = this.#set.reduce<unknown>(
        (payload, [place, value]) => withValueAt(payload, place, value.toValue(view)),
        event.payload,
      );
    }
    if (this.#reason && roomFor(event.event_type, decision).reason)
      decision.reason = this.#reason.toText(view);
    const keys = this.#isFixed ? undefined : keysOfDecision(event.event_type, decision);
    if (typeof keys === "string") throw new RuleError("policy_decision", keys);
    return decision;
  }
}

/** Warns of changes of places that no event has: agents refuse a change that they cannot apply whole. */
const warnOfPlaces = (
  { decision, set = {}, modified_payload: modified }: ThenObject,
  { types, path, problems }: DecisionMakerOptions,
): void => {
  if (decision !== "modify" && decision !== "allow") return;
  const warn = (field: string, key: string, place: readonly string[]): void => {
    const problem = misplacedIn(types, place);
    if (problem) problems.warn([...path, field], key, `${field}: ${problem}`);
  };
  for (const place of Object.keys(set)) warn("set", place, place.split("."));
  if (typeof modified !== "object" || modified === null || Array.isArray(modified)) return;
  for (const key of Object.keys(modified)) warn("modified_payload", key, [key]);
};

/** Checks a decision as the file has it; the fields in `open` are checked for each event. */
const checkSample = (
  type: AhpEventType,
  sample: Readonly<Record<string, unknown>>,
  open: ReadonlySet<string>,
  { path, problems, source: then }: DecisionMakerOptions,
): void => {
  const result = ahpEvents[type].decision.safeParse(sample);
  if (!result.success) {
    if (result.error.issues.every((issue) => open.has(String(issue.path[0])))) return;
    const text = String(keysOfDecision(type, sample));
    const isEmpty = sample.decision === "modify" && text.startsWith("modified_payload");
    problems.add(path, isEmpty ? 'modify needs values, such as set: { "arguments.command": ls }' : text);
    return;
  }
  const hasOwnReason = typeof then !== "string" && then.reason !== undefined;
  for (const key of Object.keys(sample)) {
    if (key in result.data || sample[key] === undefined || (key === "reason" && !hasOwnReason)) continue;
    problems.add([...path, key], `${sample.decision} of ${type} has no ${key}`);
  }
};

/** A copy of a payload with the value at a place replaced. Throws `policy_decision` for a place outside of its objects. */
const withValueAt = (payload: unknown, place: readonly string[], value: unknown): unknown => {
  const [key, ...rest] = place;
  if (key === undefined) return value;
  if (Array.isArray(payload) && /^\d+$/.test(key) && Number(key) < payload.length)
    return payload.with(Number(key), withValueAt(payload[Number(key)], rest, value));
  if (Array.isArray(payload) || typeof payload !== "object" || payload === null)
    throw new RuleError("policy_decision", `the payload has no place ${key}`);
  const inner = Object.hasOwn(payload, key) ? (payload as Record<string, unknown>)[key] : {};
  const others = Object.entries(payload).filter(([name]) => name !== key);
  return Object.fromEntries([...others, [key, withValueAt(inner, rest, value)]]);
};
