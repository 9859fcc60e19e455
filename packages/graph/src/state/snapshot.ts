import type { StateSchema } from "./schema.ts";

/** Where a view keeps its snapshot; not enumerable, so that a copy of the view is a plain object. */
const source = Symbol("snapshot");

/** By the name of a field, its cell. */
export type Cells = ReadonlyMap<string, unknown>;

/** A state at one moment: its cells, and the view of it that users see. */
export class Snapshot {
  readonly schema: StateSchema;
  readonly #cells: Cells;
  #view: object | undefined;

  constructor(schema: StateSchema, cells: Cells) {
    this.schema = schema;
    this.#cells = cells;
  }

  /** The cell of a field; undefined if it is not declared. */
  cell(name: string): unknown {
    return this.#cells.get(name);
  }

  /** This state with other cells for some fields. */
  with(changes: Cells): Snapshot {
    return changes.size === 0 ? this : new Snapshot(this.schema, new Map([...this.#cells, ...changes]));
  }

  /** The state as a frozen object. */
  get view(): object {
    if (this.#view === undefined) {
      const view = Object.fromEntries(this.#cells);
      this.#view = Object.freeze(Object.defineProperty(view, source, { value: this }));
    }
    return this.#view;
  }
}

/** The snapshot of a state; undefined for any other object. */
export const snapshotOf = (state: object): Snapshot | undefined =>
  (state as { readonly [source]?: Snapshot })[source];
