import { SharedList } from "../shared-list.ts";
import type { StateSchema } from "./schema.ts";

/** Where a view keeps the snapshot that it is of; not enumerable, so that a copy of it is just an object. */
const source = Symbol("snapshot");

/** A state at one moment: its cells, and what users see of it. */
export class Snapshot {
  readonly schema: StateSchema;
  readonly #cells: readonly unknown[];
  #view: object | undefined;

  /** `cells` are in the order of the schema's slots, and belong to the snapshot. */
  constructor(schema: StateSchema, cells: readonly unknown[]) {
    this.schema = schema;
    this.#cells = cells;
  }

  cell(place: number): unknown {
    return this.#cells[place];
  }

  /** The cell of a field by name; undefined where it is not declared. */
  cellOf(name: string): unknown {
    const place = this.schema.places.get(name);
    return place === undefined ? undefined : this.#cells[place];
  }

  /** The value of a field as users see it. */
  valueOf(name: string): unknown {
    const cell = this.cellOf(name);
    return cell instanceof SharedList ? cell.view : cell;
  }

  /** This state with other cells in some places. */
  with(changes: ReadonlyMap<number, unknown>): Snapshot {
    if (changes.size === 0) return this;
    const cells = [...this.#cells];
    for (const [place, cell] of changes) cells[place] = cell;
    return new Snapshot(this.schema, cells);
  }

  /**
   * The state as a frozen object. A list that is shared is a view of it, which costs nothing however long the list is.
   */
  get view(): object {
    this.#view ??= this.#makeView();
    return this.#view;
  }

  #makeView(): object {
    const view: Record<string | symbol, unknown> = {};
    Object.defineProperty(view, source, { value: this });
    for (const [place, { name }] of this.schema.slots.entries()) {
      const cell = this.#cells[place];
      view[name] = cell instanceof SharedList ? cell.view : cell;
    }
    return Object.freeze(view);
  }
}

/** The snapshot that a state was made of; undefined for any other object. */
export const snapshotOf = (state: object): Snapshot | undefined =>
  (state as { readonly [source]?: Snapshot })[source];
