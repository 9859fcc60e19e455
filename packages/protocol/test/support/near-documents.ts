import fc from "fast-check";

/** Values that a field is given in the place of its own: those that rules are about, and any JSON. */
const strange: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    ...[null, "", "x", 0, -0, -1, 1.5, 2 ** 53, 2 ** 60 + 2 ** 10, 1e300, Number.MAX_VALUE, 5e-324],
    ...[true, false, [], {}, [{}], [null], [[]], { constructor: 1, toString: null }, ["render_ui"]],
    ...["public", "secret", "Secret", "success", "error", "sequential", "dangerous", "once", "text", "file"],
    ...["1.0", "1.0.0", "01.2.3", "1.0.0-", "1.0.0+", "1.0.0-a+b", "1.0.0 ", "1.0.0\n", "v1.0.0", "1.0.0-ä"],
    ...["१.0.0", "\ud83d\ude00", "\ud800", "2.0", JSON.parse('{"__proto__":{"a":1}}')],
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

const isContainer = (value: unknown): value is Record<string, unknown> | unknown[] =>
  typeof value === "object" && value !== null;

/** Every place in a document, as the keys that lead to it. */
export const placesOf = (value: unknown, place: readonly string[] = []): (readonly string[])[] => [
  place,
  ...(isContainer(value)
    ? Object.entries(value).flatMap(([key, entry]) => placesOf(entry, [...place, key]))
    : []),
];

interface Change {
  readonly at: number;
  readonly kind: "replace" | "remove" | "add" | "move";
  readonly value: unknown;
  readonly key: string;
}

const define = (target: object, key: string, value: unknown): void => {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
};

/** Makes one change somewhere in a document, in place. Gives the document, or what stands for it now. */
const changed = (document: unknown, { at, kind, value: given, key }: Change): unknown => {
  // A value of its own each time: one that stands in two places could be put into itself.
  const value = structuredClone(given);
  const places = placesOf(document);
  const place = places[at % places.length] ?? [];
  let parent: unknown;
  let target = document;
  for (const step of place) {
    parent = target;
    target = (target as Record<string, unknown>)[step];
  }
  const last = place.at(-1);
  if (kind === "add" && isContainer(target)) {
    if (Array.isArray(target)) target.push(value);
    else define(target, key, value);
    return document;
  }
  if (last === undefined || !isContainer(parent)) return kind === "replace" ? value : document;
  if (kind === "replace" || Array.isArray(parent)) define(parent, last, value);
  else delete parent[last];
  if (kind === "move" && !Array.isArray(parent)) define(parent, key, structuredClone(target));
  return document;
};

/** These documents with up to four changes, and JSON that has nothing to do with them. */
export const nearDocument = (documents: readonly unknown[]): fc.Arbitrary<unknown> => {
  if (documents.length === 0) return strange;
  const known = documents.flatMap((document) => placesOf(document)).flat();
  const keys = [...new Set(known)].filter((key) => !/^\d+$/.test(key));
  const change: fc.Arbitrary<Change> = fc.record({
    at: fc.nat(),
    kind: fc.constantFrom("replace", "replace", "remove", "add", "move"),
    value: strange,
    key: fc.oneof(fc.constantFrom(...keys, "__proto__", "constructor"), fc.string()),
  });
  const changes = fc.tuple(fc.constantFrom(...documents), fc.array(change, { maxLength: 4 }));
  return fc.oneof(
    { weight: 1, arbitrary: strange },
    {
      weight: 12,
      arbitrary: changes.map(([document, each]) => each.reduce(changed, structuredClone(document))),
    },
  );
};
