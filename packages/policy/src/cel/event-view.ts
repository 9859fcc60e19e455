import type { AhpEvent } from "@harnesskit/protocol/ahp";
import { jsonLength } from "@harnesskit/wire/json";
import { RuleError } from "../policy-error.ts";
import { type ActionKind, actionKind } from "./actions.ts";
import type { PolicyFunction } from "./policy-function.ts";

type JsonMap = Readonly<Record<string, unknown>>;

const nothing: JsonMap = Object.freeze({});

const isMap = (value: unknown): value is JsonMap =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** An own property of an object; inherited ones are not part of the event. */
export const ownProperty = (value: unknown, key: string): unknown =>
  isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;

/** An event as expressions see it: each property is a name that they can use. */
export class EventView {
  readonly event: AhpEvent;
  readonly tool: string;
  /** What the tool does; `other` for an event without a tool. */
  readonly action: ActionKind;
  readonly args: JsonMap;
  readonly #defaultWorkspace: string;
  readonly #answers = new Map<
    PolicyFunction,
    { readonly args: readonly unknown[]; readonly answer: unknown }
  >();
  #isMeasured = false;

  constructor(event: AhpEvent, defaultWorkspace: string) {
    this.event = event;
    const tool = ownProperty(event.payload, "tool_name");
    this.tool = typeof tool === "string" ? tool : "";
    this.action = actionKind(this.tool);
    const args = ownProperty(event.payload, "arguments");
    this.args = isMap(args) ? args : nothing;
    this.#defaultWorkspace = defaultWorkspace;
  }

  get event_type(): AhpEvent["event_type"] {
    return this.event.event_type;
  }

  get payload(): unknown {
    return this.event.payload;
  }

  get session(): string {
    return this.event.session_id;
  }

  get agent(): string {
    return this.event.agent_id;
  }

  get depth(): bigint {
    return BigInt(this.event.depth);
  }

  get metadata(): JsonMap {
    return this.event.metadata ?? nothing;
  }

  get workspace(): string {
    const own = ownProperty(this.event.metadata, "workspace");
    return typeof own === "string" && own !== "" ? own : this.#defaultWorkspace;
  }

  /** Throws `policy_cost` for an event of more characters. */
  checkLength(maxLength: number): void {
    if (this.#isMeasured) return;
    const { payload, metadata, context } = this.event;
    const length = jsonLength(payload) + jsonLength(metadata) + jsonLength(context);
    if (length > maxLength)
      throw new RuleError("policy_cost", `the event has more than ${maxLength} characters`);
    this.#isMeasured = true;
  }

  /** The answer of a function; its last answer is used again for the same arguments. */
  ask(source: PolicyFunction, args: readonly unknown[], call: () => unknown): unknown {
    const last = this.#answers.get(source);
    if (last?.args.length === args.length && last.args.every((value, index) => Object.is(value, args[index])))
      return last.answer;
    const answer = call();
    this.#answers.set(source, { args, answer });
    return answer;
  }
}
