import type { ProjectionOptions } from "../definition.ts";
import type { StateSchema } from "../state/schema.ts";

/** Pairs of a parent's field and a subgraph's. */
export interface Projection {
  readonly into: readonly (readonly [parent: string, sub: string])[];
  readonly out: readonly (readonly [parent: string, sub: string])[];
}

const same = (names: readonly string[]) => names.map((name) => [name, name] as const);

/** Every field that both have. */
const sharedNames = (parent: StateSchema, sub: StateSchema): string[] =>
  parent.slots.map(({ name }) => name).filter((name) => sub.places.has(name));

/** What goes in and out by the form that was declared. */
export const resolveProjection = (
  { inputs, outputs, projectsIn, projectsOut }: ProjectionOptions,
  parent: StateSchema,
  sub: StateSchema,
): Projection => {
  if (projectsIn !== undefined || projectsOut !== undefined) {
    return { into: same(projectsIn ?? []), out: same(projectsOut ?? []) };
  }
  return {
    into: Object.entries(inputs ?? {}).map(([to, from]) => [from, to] as const),
    out: outputs === undefined ? same(sharedNames(parent, sub)) : Object.entries(outputs),
  };
};

const growing = new Set(["append", "concat_flatten", "bounded_append", "merge_all"]);

/** The parent's fields that go into a subgraph and come back by the same field into a reducer that would add them again. */
export const roundTrips = ({ into, out }: Projection, parent: StateSchema): string[] =>
  out
    .filter(([field, sub]) => {
      const place = parent.places.get(field);
      const reducer = place === undefined ? undefined : parent.slots[place]?.spec.reducer;
      return (
        growing.has(reducer ?? "") && into.some(([source, target]) => source === field && target === sub)
      );
    })
    .map(([field]) => field);
