import type { ASTNode } from "@marcbachmann/cel-js";
import { type EventView, isPlain, slow } from "./event-view.ts";

type Fast = (view: EventView) => unknown;

/** A node as the library builds it: `has` and loops have their expansion in `meta`. */
interface Node {
  readonly op: string;
  readonly args: unknown;
  readonly meta?: { readonly alternate?: unknown; readonly macro?: unknown };
}

const unknown: Fast = () => slow;

const names = new Set([
  "event",
  "event_type",
  "payload",
  "tool",
  "args",
  "session",
  "agent",
  "metadata",
  "workspace",
  "depth",
]);

type Compare = (left: never, right: never) => boolean;
const orders: Readonly<Record<string, Compare>> = {
  "<": (left, right) => left < right,
  "<=": (left, right) => left <= right,
  ">": (left, right) => left > right,
  ">=": (left, right) => left >= right,
};

const isSafe = (value: unknown): value is bigint =>
  typeof value === "bigint" && value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;

/** The text that a node is, where it is one. */
const textOf = ({ op, args }: Node): string | undefined =>
  op === "value" && typeof args === "string" ? args : undefined;

const methods: Readonly<Record<string, (text: string, part: string) => boolean>> = {
  contains: (text, part) => text.includes(part),
  startsWith: (text, part) => text.startsWith(part),
  endsWith: (text, part) => text.endsWith(part),
};

/**
 * Most conditions compare texts of the event with texts of the policy. For these nodes a condition becomes functions,
 * which answer only what is certain; whatever else an expression holds, and each value of another type or that is not
 * there, is `slow`, and then the library decides the whole expression by all rules of CEL.
 */
export class FastPath {
  readonly #lists: Readonly<Record<string, ReadonlySet<string>>>;

  constructor(lists: Readonly<Record<string, ReadonlySet<string>>>) {
    this.#lists = lists;
  }

  /** Undefined where nothing is won. Takes an expression as it was parsed. */
  compile(ast: ASTNode): Fast | undefined {
    const fast = this.#of(ast as unknown as Node);
    return fast === unknown ? undefined : fast;
  }

  #of(node: Node): Fast {
    const { op, args, meta } = node;
    if (meta?.alternate) return unknown;
    switch (op) {
      case "value":
        return () => args;
      case "id":
        return names.has(args as string) ? (view) => view[args as "tool"] : unknown;
      case "!_":
        return this.#not(args as Node);
      case ".":
        return this.#field(args as [Node, string]);
      case "call":
        return this.#call(node);
      case "rcall":
        return this.#method(args as [string, Node, Node[]]);
      case "in":
        return this.#in(args as [Node, Node]);
      case "&&":
      case "||":
        return this.#logical(op === "||", args as [Node, Node]);
      case "==":
      case "!=":
        return this.#equal(op === "==", args as [Node, Node]);
      default:
        return op in orders ? this.#order(orders[op] as Compare, args as [Node, Node]) : unknown;
    }
  }

  #not(argument: Node): Fast {
    const inner = this.#of(argument);
    if (inner === unknown) return unknown;
    return (view) => {
      const value = inner(view);
      return typeof value === "boolean" ? !value : slow;
    };
  }

  #field([left, name]: [Node, string]): Fast {
    if (left.op === "id" && left.args === "args") return (view) => view.argument(name);
    const inner = this.#of(left);
    if (inner === unknown) return unknown;
    return (view) => {
      const object = inner(view);
      if (!isPlain(object) || !Object.hasOwn(object, name)) return slow;
      return object[name];
    };
  }

  #call({ args, meta }: Node): Fast {
    const [name, [argument]] = args as [string, [Node | undefined]];
    if (name !== "has" || !meta?.macro || argument?.op !== ".") return unknown;
    const [left, key] = argument.args as [Node, string];
    const inner = this.#of(left);
    if (inner === unknown) return unknown;
    return (view) => {
      const object = inner(view);
      return isPlain(object) ? Object.hasOwn(object, key) : slow;
    };
  }

  #method([name, receiver, args]: [string, Node, Node[]]): Fast {
    const method = Object.hasOwn(methods, name) ? methods[name] : undefined;
    const [argument] = args;
    if (!method || !argument || args.length !== 1) return unknown;
    const [left, right] = [this.#of(receiver), this.#of(argument)];
    if (left === unknown || right === unknown) return unknown;
    const fixed = textOf(argument);
    if (fixed !== undefined && name === "contains") {
      return (view) => {
        const text = left(view);
        return typeof text === "string" ? text.includes(fixed) : slow;
      };
    }
    if (fixed !== undefined && name === "startsWith") {
      return (view) => {
        const text = left(view);
        return typeof text === "string" ? text.startsWith(fixed) : slow;
      };
    }
    return (view) => {
      const text = left(view);
      const part = right(view);
      return typeof text === "string" && typeof part === "string" ? method(text, part) : slow;
    };
  }

  #in([element, list]: [Node, Node]): Fast {
    const left = this.#of(element);
    const texts = this.#texts(list);
    if (left === unknown || !texts) return unknown;
    return (view) => {
      const value = left(view);
      return typeof value === "string" ? texts.has(value) : slow;
    };
  }

  /** The texts of a list that is written out, or named. */
  #texts({ op, args }: Node): ReadonlySet<string> | undefined {
    if (op === "list") {
      const items = args as Node[];
      const texts = items.map(textOf).filter((text) => text !== undefined);
      return texts.length === items.length ? new Set(texts) : undefined;
    }
    if (op !== ".") return undefined;
    const [left, name] = args as [Node, string];
    const isLists = left.op === "id" && left.args === "lists";
    return isLists && Object.hasOwn(this.#lists, name) ? this.#lists[name] : undefined;
  }

  /** `decisive` is the value of the left side that makes the right one needless. */
  #logical(decisive: boolean, [first, second]: [Node, Node]): Fast {
    const [left, right] = [this.#of(first), this.#of(second)];
    if (left === unknown) return unknown;
    return (view) => {
      const value = left(view);
      if (value === decisive) return decisive;
      if (value !== !decisive) return slow;
      const other = right(view);
      return typeof other === "boolean" ? other : slow;
    };
  }

  #equal(isEqual: boolean, [first, second]: [Node, Node]): Fast {
    const [left, right] = [this.#of(first), this.#of(second)];
    if (left === unknown || right === unknown) return unknown;
    const fixed = textOf(second);
    if (fixed !== undefined) {
      return (view) => {
        const text = left(view);
        return typeof text === "string" ? (text === fixed) === isEqual : slow;
      };
    }
    return (view) => {
      const a = left(view);
      const b = right(view);
      if (typeof a !== typeof b || (typeof a !== "string" && typeof a !== "boolean")) return slow;
      return (a === b) === isEqual;
    };
  }

  #order(compare: Compare, [first, second]: [Node, Node]): Fast {
    const [left, right] = [this.#size(first), this.#size(second)];
    if (left === unknown || right === unknown) return unknown;
    return (view) => {
      const a = left(view);
      const b = right(view);
      const isNumber = typeof a === "number" || typeof a === "bigint";
      return isNumber && (typeof b === "number" || typeof b === "bigint")
        ? compare(a as never, b as never)
        : slow;
    };
  }

  /** The size of a text, where it is only compared: a text without surrogates has as many characters as units. */
  #size(node: Node): Fast {
    // A number and a bigint compare as two numbers do, only slowly.
    if (node.op === "id" && node.args === "depth") return (view) => view.event.depth;
    if (node.op === "value" && isSafe(node.args)) {
      const fixed = Number(node.args);
      return () => fixed;
    }
    const [name, args] = node.op === "call" ? (node.args as [string, Node[]]) : [];
    const [argument] = args ?? [];
    if (name !== "size" || !argument || args?.length !== 1) return this.#of(node);
    const inner = this.#of(argument);
    if (inner === unknown) return unknown;
    return (view) => {
      const text = inner(view);
      return typeof text === "string" ? view.sizeOf(text) : slow;
    };
  }
}
