import type { JsonValue } from "@harnesskit/protocol/envelope";
import type { SharedList } from "../shared-list.ts";

/** A list field as it is kept. */
export type StoredList = SharedList<JsonValue>;

/**
 * The fields of a state as stores keep them: JSON, deeply frozen, and lists that grow as {@link SharedList}.
 * `JSON.stringify` writes both. A store may give a list back as an array; it is one copy more.
 */
export type StoredState = Readonly<Record<string, JsonValue | StoredList>>;

/** What is new in a list: its first `keep` items stay, everything behind them is replaced by `items`. */
export interface ListChange {
  /** How many items of what is stored stay. Never more than there are. */
  readonly keep: number;
  readonly items: readonly JsonValue[];
}
