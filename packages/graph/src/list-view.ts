import type { SharedList } from "./shared-list.ts";

/** The key by which a view tells its list; nobody else has it. */
const source = Symbol("list");
const inspect = Symbol.for("nodejs.util.inspect.custom");

type Method = (this: readonly unknown[], ...args: never[]) => unknown;

/** The list that a value is a view of; undefined for any other value. */
export const listOfView = (value: unknown): SharedList<unknown> | undefined =>
  Array.isArray(value) ? (value as { readonly [source]?: SharedList<unknown> })[source] : undefined;

const listOf = (view: readonly unknown[]): SharedList<unknown> => listOfView(view) as SharedList<unknown>;

/** Methods that read all items: they do it on an array, which is made when the first of them is called. */
const readers = [
  "concat",
  "entries",
  "every",
  "filter",
  "find",
  "findIndex",
  "findLast",
  "findLastIndex",
  "flat",
  "flatMap",
  "forEach",
  "includes",
  "indexOf",
  "join",
  "keys",
  "lastIndexOf",
  "map",
  "reduce",
  "reduceRight",
  "some",
  "toLocaleString",
  "toReversed",
  "toSorted",
  "toSpliced",
  "toString",
  "values",
  "with",
  Symbol.iterator,
] as const;

const methods = new Map<PropertyKey, Method>();
for (const name of readers) {
  const method = (Array.prototype as unknown as Record<PropertyKey, Method>)[name];
  // Some are younger than the oldest supported platform.
  if (method === undefined) continue;
  methods.set(name, function (...args) {
    return method.apply(listOf(this).toArray(), args);
  });
}
methods.set("at", function (index: number) {
  return listOf(this).at(Math.trunc(index) || 0);
});
methods.set("slice", function (from?: number, to?: number) {
  return listOf(this).slice(from, to);
});
methods.set("toJSON", function () {
  return listOf(this).toArray();
});

/** The index that a key is; undefined for another key. */
const indexOf = (key: PropertyKey): number | undefined => {
  if (typeof key !== "string") return undefined;
  const first = key.charCodeAt(0);
  if (first < 48 || first > 57) return undefined;
  const index = Number(key);
  return String(index) === key ? index : undefined;
};

/** How a view answers. It refuses every change. */
class ViewHandler implements ProxyHandler<unknown[]> {
  readonly #list: SharedList<unknown>;

  constructor(list: SharedList<unknown>) {
    this.#list = list;
  }

  get(_: unknown[], key: PropertyKey): unknown {
    if (key === "length") return this.#list.length;
    if (key === source) return this.#list;
    const index = indexOf(key);
    if (index !== undefined) return this.#list.at(index);
    return methods.get(key) ?? Reflect.get(Array.prototype, key);
  }

  has(_: unknown[], key: PropertyKey): boolean {
    const index = indexOf(key);
    return index === undefined ? Reflect.has(Array.prototype, key) : index < this.#list.length;
  }

  ownKeys(): string[] {
    return [...Array.from({ length: this.#list.length }, (_, index) => String(index)), "length"];
  }

  getOwnPropertyDescriptor(target: unknown[], key: PropertyKey): PropertyDescriptor | undefined {
    if (key === "length")
      return { ...Reflect.getOwnPropertyDescriptor(target, key), value: this.#list.length };
    const index = indexOf(key);
    if (index === undefined || index >= this.#list.length) return undefined;
    return { value: this.#list.at(index), writable: false, enumerable: true, configurable: true };
  }

  set(): boolean {
    return false;
  }

  defineProperty(): boolean {
    return false;
  }

  deleteProperty(): boolean {
    return false;
  }

  setPrototypeOf(): boolean {
    return false;
  }

  preventExtensions(): boolean {
    return false;
  }
}

/**
 * A list as an array that cannot be changed, made without looking at its items. Its length, its end and single items cost
 * nothing; what reads all of them works on an array that is made then.
 */
export const createListView = <T>(list: SharedList<T>): readonly T[] => {
  const target: unknown[] = [];
  // Node prints the target of a proxy and not what the proxy says.
  Object.defineProperty(target, inspect, { value: () => list.toArray(), configurable: true });
  return new Proxy(target, new ViewHandler(list)) as readonly unknown[] as readonly T[];
};
