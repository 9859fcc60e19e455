import * as z from "zod";
import type { MethodTable, NotificationTable } from "./envelope/method-table.ts";

const draft = "https://json-schema.org/draft/2020-12/schema";
const urlOf = (document: string): string => `https://harnesskit.dev/schema/${document}.json`;
const uriOf = (id: string): string => `https://harnesskit.dev/schema/${id.replace("#", ".json#")}`;

/** What an event of each type is, and the schemas of its payload and of the decision about it. */
type EventTable = Readonly<
  Record<
    string,
    { readonly payload: z.ZodType; readonly decision: z.ZodType; readonly [fact: string]: unknown }
  >
>;

interface ProtocolSchemas {
  readonly title: string;
  readonly module: object;
  readonly methods?: MethodTable;
  readonly notifications?: NotificationTable;
  /** The forms that the messages of each type have. */
  readonly messages?: Readonly<Record<string, readonly z.ZodType[]>>;
  readonly events?: EventTable;
}

/** Each zod schema of a protocol, with the name of its definition. */
function* definitionsOf(module: object): Generator<[string, z.ZodType]> {
  for (const [name, value] of Object.entries(module)) {
    if (name.endsWith("Schema") && value instanceof z.ZodType) yield [name.slice(0, -"Schema".length), value];
  }
}

/** Undefined for no table: it is not written. */
const mapped = <T, R>(table: Readonly<Record<string, T>> | undefined, map: (entry: T, name: string) => R) =>
  table && Object.fromEntries(Object.entries(table).map(([name, entry]) => [name, map(entry, name)]));

type Refer = (name: string, schema: z.ZodType) => { readonly $ref: string };

/** A protocol's document before its definitions are known, and the tables of what its names on the wire refer to. */
const outlineOf = (document: string, protocol: ProtocolSchemas, refer: Refer) => {
  const { title, methods, notifications, messages, events } = protocol;
  return {
    $schema: draft,
    $id: urlOf(document),
    title,
    "x-methods": mapped(methods, ({ params, result }, name) => ({
      params: refer(`${name}.params`, params),
      result: refer(`${name}.result`, result),
    })),
    "x-notifications": mapped(notifications, (schema, name) => refer(`${name}.params`, schema)),
    "x-messages": mapped(messages, (forms, type) => ({
      anyOf: forms.map((schema, index) => refer(`${type}.${index + 1}`, schema)),
    })),
    "x-events": mapped(events, ({ payload, decision, ...facts }, type) => ({
      ...facts,
      payload: refer(`${type}.payload`, payload),
      decision: refer(`${type}.decision`, decision),
    })),
    $defs: {} as Record<string, object>,
  };
};

/**
 * Makes the JSON Schema document (2020-12) of each protocol, by document name. `FooSchema` becomes `$defs.Foo`, the parameters and
 * results of a method `$defs["a.b.params"]` and `$defs["a.b.result"]`, listed by their wire names in `x-methods`,
 * `x-notifications`, `x-messages` and `x-events`. A schema that is used in several places is defined once and referred to, also
 * from another document.
 */
export const schemaDocuments = <Name extends string>(protocols: Readonly<Record<Name, ProtocolSchemas>>) => {
  const registry = z.registry<{ id: string }>();
  const places = new Map<string, { readonly document: Name; readonly name: string }>();
  const define = (document: Name, name: string, schema: z.ZodType): string => {
    const known = registry.get(schema);
    if (known) return known.id;
    const id = `${document}#/$defs/${name}`;
    places.set(id, { document, name });
    registry.add(schema, { id });
    return id;
  };
  const documents = {} as Record<Name, ReturnType<typeof outlineOf>>;
  for (const document of Object.keys(protocols) as Name[]) {
    for (const [name, schema] of definitionsOf(protocols[document].module)) define(document, name, schema);
    documents[document] = outlineOf(document, protocols[document], (name, schema) => ({
      $ref: uriOf(define(document, name, schema)),
    }));
  }
  const { schemas } = z.toJSONSchema(registry, { uri: uriOf, io: "input" });
  for (const [id, { document, name }] of places) {
    const { $schema: _draft, $id: _id, id: _own, ...schema } = schemas[id] ?? {};
    documents[document].$defs[name] = schema;
  }
  return documents;
};

/** Makes the JSON Schema document of a single schema, without a reference to another one. */
export const schemaDocument = (
  document: string,
  title: string,
  schema: z.ZodType,
): { readonly $schema: string; readonly $id: string; readonly title: string } => {
  const { $schema = draft, ...rules } = z.toJSONSchema(schema, { io: "input" });
  return { $schema, $id: urlOf(document), title, ...rules };
};
