import type { AhpEvent } from "@harnesskit/protocol/ahp";
import { jsonLength } from "@harnesskit/protocol/envelope";
import { RuleError } from "../policy-error.ts";
import type { PolicyFunction } from "./policy-function.ts";

type JsonMap = Readonly<Record<string, unknown>>;

const nothing: JsonMap = Object.freeze({});

const isMap = (value: unknown): value is JsonMap =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** No answer: the library has to be asked. */
export const slow: unique symbol = Symbol("slow");

/** An object as JSON has it. */
export const isPlain = (value: unknown): value is JsonMap =>
  typeof value === "object" && value !== null && value.constructor === Object;

/** Characters of a text whose size is known without the library. */
const maxSizedLength = 4095;

/** A property of an object's own; whatever stands in its prototype is not of the event. */
export const ownOf = (value: unknown, key: string): unknown =>
  isMap(value) && Object.hasOwn(value, key) ? value[key] : undefined;

const sameArgs = (a: readonly unknown[], b: readonly unknown[]): boolean =>
  a.length === b.length && a.every((value, index) => Object.is(value, b[index]));

interface Remembered {
  readonly args: readonly unknown[];
  readonly answer: unknown;
}

/** An event as expressions see it: each property is a name of theirs. Nothing is computed before somebody asks. */
export class EventView {
  readonly event: AhpEvent;
  readonly tool: string;
  readonly args: JsonMap;
  readonly #workspace: string;
  #isMeasured = false;
  #askedName: string | undefined;
  #asked: unknown;
  #sizedText: string | undefined;
  #size: unknown;
  #remembered: Map<PolicyFunction, Remembered> | undefined;

  constructor(event: AhpEvent, workspace: string) {
    this.event = event;
    const tool = ownOf(event.payload, "tool_name");
    this.tool = typeof tool === "string" ? tool : "";
    const args = ownOf(event.payload, "arguments");
    this.args = isMap(args) ? args : nothing;
    this.#workspace = workspace;
  }

  get event_type(): string {
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
    const own = ownOf(this.event.metadata, "workspace");
    return typeof own === "string" && own !== "" ? own : this.#workspace;
  }

  /** One of the `args`, as CEL sees it; `slow` where it is not there. Rules of one tool ask for the same one in a row. */
  argument(name: string): unknown {
    if (name !== this.#askedName) {
      const { args } = this;
      this.#asked = isPlain(args) && Object.hasOwn(args, name) ? args[name] : slow;
      this.#askedName = name;
    }
    return this.#asked;
  }

  /** The characters of a text; `slow` where it is long, or has some that are two units. */
  sizeOf(text: string): unknown {
    if (text !== this.#sizedText) {
      const isEasy = text.length <= maxSizedLength && !/[\ud800-\udfff]/.test(text);
      this.#size = isEasy ? text.length : slow;
      this.#sizedText = text;
    }
    return this.#size;
  }

  /** Throws `policy_cost` for an event of more characters. */
  measure(maxLength: number): void {
    if (this.#isMeasured) return;
    const { payload, metadata, context } = this.event;
    const length = jsonLength(payload) + jsonLength(metadata) + jsonLength(context);
    if (length > maxLength)
      throw new RuleError("policy_cost", `the event has more than ${maxLength} characters`);
    this.#isMeasured = true;
  }

  /** What `ask` gives, asked once for the same arguments in a row. */
  remember(key: PolicyFunction, args: readonly unknown[], ask: () => unknown): unknown {
    const known = this.#remembered?.get(key);
    if (known && sameArgs(known.args, args)) return known.answer;
    const answer = ask();
    this.#remembered ??= new Map();
    this.#remembered.set(key, { args, answer });
    return answer;
  }
}
