import type { SharedList } from "./shared-list.ts";

/** The key under which a view has its list. */
const source = Symbol("list");
const inspect = Symbol.for("nodejs.util.inspect.custom");

/** The list of a view; undefined for any other value. */
export const listOfView = (value: unknown): SharedList<unknown> | undefined =>
  Array.isArray(value) ? (value as { readonly [source]?: SharedList<unknown> })[source] : undefined;

/** The index of a key; undefined for another key. */
const indexOf = (key: PropertyKey): number | undefined => {
  if (typeof key !== "string") return undefined;
  const index = Number(key);
  return index >= 0 && String(index) === key ? index : undefined;
};

/** A method of arrays for a list: `at` and `slice` read what they need, all others read a frozen array of all items. */
const methodOf = (list: SharedList<unknown>, key: PropertyKey): unknown => {
  if (key === "at") return (index: number) => list.at(Math.trunc(index) || 0);
  if (key === "slice") return (from?: number, to?: number) => list.slice(from, to);
  if (key === "toJSON") return () => list.toArray();
  const member: unknown = Reflect.get(Array.prototype, key);
  if (typeof member !== "function" || key === "constructor") return member;
  return (...args: unknown[]) => Reflect.apply(member, list.toArray(), args) as unknown;
};

const refuseChange = () => false;

/**
 * A list as an array that cannot be changed, created without reading its items. Its length, its end and single items cost
 * nothing; methods that read all items work on an array that is created when the first of them is called.
 */
export const createListView = <T>(list: SharedList<T>): readonly T[] => {
  const target: unknown[] = [];
  // Node prints the target of a proxy.
  Object.defineProperty(target, inspect, { value: () => list.toArray(), configurable: true });
  const has = (index: number) => index < list.length;
  return new Proxy(target, {
    get(_, key) {
      if (key === "length") return list.length;
      if (key === source) return list;
      const index = indexOf(key);
      return index === undefined ? methodOf(list, key) : list.at(index);
    },
    has(_, key) {
      const index = indexOf(key);
      return index === undefined ? Reflect.has(Array.prototype, key) : has(index);
    },
    ownKeys: () => [...Array.from({ length: list.length }, (_, index) => String(index)), "length"],
    getOwnPropertyDescriptor(_, key) {
      if (key === "length") return { ...Reflect.getOwnPropertyDescriptor(target, key), value: list.length };
      const index = indexOf(key);
      if (index === undefined || !has(index)) return undefined;
      return { value: list.at(index), writable: false, enumerable: true, configurable: true };
    },
    set: refuseChange,
    defineProperty: refuseChange,
    deleteProperty: refuseChange,
    setPrototypeOf: refuseChange,
    preventExtensions: refuseChange,
  }) as readonly unknown[] as readonly T[];
};
