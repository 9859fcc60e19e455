import { isPlainObject } from "@harnesskit/wire/json";
import { match, type NamedMatchers } from "../../src/match/match.ts";
import { createScope } from "../../src/match/scope.ts";
import type { Change } from "./read-changes.ts";

type Members = Record<string, unknown>;

const membersOf = (value: unknown): Members => (isPlainObject(value) ? (value as Members) : {});

/** The names under which a request waits for its answer, and those that an answer gives. */
const keysOf = (message: unknown, isAnswer: boolean): string[] => {
  const { id, request_id, in_reply_to } = membersOf(message);
  const ids = isAnswer ? [in_reply_to, id, request_id] : [id, request_id];
  return ids.filter((each) => each !== undefined && each !== null).map((each) => JSON.stringify(each));
};

const withMember = (value: unknown, [key = "", ...rest]: readonly string[], member: unknown): unknown => {
  const isIndex = Array.isArray(value);
  const inner: unknown = isIndex ? value[Number(key)] : membersOf(value)[key];
  const next = rest.length === 0 ? member : withMember(inner, rest, member);
  if (isIndex) return value.map((each: unknown, index) => (index === Number(key) ? next : each));
  const { [key]: _, ...others } = membersOf(value);
  return next === undefined ? others : { ...membersOf(value), [key]: next };
};

/** What becomes of a message. */
export interface Changed {
  /** In their order; empty where it is dropped. */
  readonly messages: readonly unknown[];
  readonly back: readonly unknown[];
}

/** Applies one change to the messages of one connection. */
export const createChanger = (change: Change, named: NamedMatchers) => {
  const requests = new Map<string, unknown>();
  let count = 0;
  const isMeant = (message: unknown): boolean => {
    if (change.of !== undefined && match(message, change.of, named) !== undefined) return false;
    if (change.to !== undefined && match(requestOf(message), change.to, named) !== undefined) return false;
    count += 1;
    return (change.nth ?? count) === count && count > (change.after ?? 0);
  };
  const requestOf = (message: unknown): unknown =>
    keysOf(message, true)
      .map((key) => requests.get(key))
      .find((each) => each !== undefined);
  return {
    /** Remembers a message of the other side, which may be answered. */
    remember(message: unknown): void {
      for (const key of keysOf(message, false)) requests.set(key, message);
    },
    /** Undefined for a message that the change is not about; `earlier` has outcomes of a driver by their operation. */
    apply(message: unknown, earlier: unknown = {}): Changed | undefined {
      if (!isMeant(message)) return undefined;
      const scope = createScope({}, Math.random);
      scope.set("message", message);
      scope.set("earlier", earlier);
      scope.set("request", requestOf(message) ?? {});
      let changed: unknown =
        "put" in change && change.put !== undefined ? scope.resolve(change.put) : message;
      for (const [path, value] of Object.entries(change.set ?? {}))
        changed = withMember(changed, path.split("."), scope.resolve(value));
      for (const path of change.remove ?? []) changed = withMember(changed, path.split("."), undefined);
      const kept = change.drop === true ? [] : [changed, ...(change.repeat === true ? [changed] : [])];
      const resolved = (list: readonly unknown[] = []) => list.map((each) => scope.resolve(each));
      return { messages: [...kept, ...resolved(change.also)], back: resolved(change.back) };
    },
  };
};
