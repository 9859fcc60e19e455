import * as z from "zod";

const draft = "https://json-schema.org/draft/2020-12/schema";
const urlOf = (document) => `https://harnesskit.dev/schema/${document}.json`;

/** Each zod schema of a protocol, with the name of its definition. */
function* definitionsOf(module) {
  for (const [name, value] of Object.entries(module)) {
    if (name.endsWith("Schema") && value instanceof z.ZodType) yield [name.slice(0, -"Schema".length), value];
  }
}

/**
 * Makes the JSON Schema document (2020-12) of each protocol. Takes, by document name, `{ title, module, methods?,
 * notifications?, messages?, events? }`. `FooSchema` becomes `$defs.Foo`, the parameters and results of a method
 * `$defs["a.b.params"]` and `$defs["a.b.result"]`, listed by their wire names in `x-methods`, `x-notifications`,
 * `x-messages` and `x-events`. A schema that is used in several places is defined once and referred to, also from another document.
 */
export const schemaDocuments = (protocols) => {
  const registry = z.registry();
  const places = new Map();
  const define = (document, name, schema) => {
    const known = registry.get(schema);
    if (known) return known.id;
    const id = `${document}#/$defs/${name}`;
    places.set(id, { document, name });
    registry.add(schema, { id });
    return id;
  };
  const documents = {};
  for (const [document, protocol] of Object.entries(protocols)) {
    const { title, module, methods, notifications, messages, events } = protocol;
    const refer = (name, schema) => ({ $ref: uriOf(define(document, name, schema)) });
    for (const [name, schema] of definitionsOf(module)) define(document, name, schema);
    documents[document] = { $schema: draft, $id: urlOf(document), title };
    if (methods) {
      documents[document]["x-methods"] = Object.fromEntries(
        Object.entries(methods).map(([name, { params, result }]) => [
          name,
          { params: refer(`${name}.params`, params), result: refer(`${name}.result`, result) },
        ]),
      );
    }
    if (notifications) {
      documents[document]["x-notifications"] = Object.fromEntries(
        Object.entries(notifications).map(([name, schema]) => [name, refer(`${name}.params`, schema)]),
      );
    }
    if (messages) {
      documents[document]["x-messages"] = Object.fromEntries(
        Object.entries(messages).map(([type, forms]) => [
          type,
          { anyOf: forms.map((schema, index) => refer(`${type}.${index + 1}`, schema)) },
        ]),
      );
    }
    if (events) {
      documents[document]["x-events"] = Object.fromEntries(
        Object.entries(events).map(([type, { payload, decision, ...facts }]) => [
          type,
          {
            ...facts,
            payload: refer(`${type}.payload`, payload),
            decision: refer(`${type}.decision`, decision),
          },
        ]),
      );
    }
    documents[document].$defs = {};
  }
  const { schemas } = z.toJSONSchema(registry, { uri: uriOf, io: "input" });
  for (const [id, schema] of Object.entries(schemas)) {
    const { document, name } = places.get(id);
    delete schema.$schema;
    delete schema.$id;
    delete schema.id;
    documents[document].$defs[name] = schema;
  }
  return documents;
};

/** Makes the JSON Schema document of a single schema, without a reference to another one. */
export const schemaDocument = (document, { title, schema }) => {
  const { $schema, ...rules } = z.toJSONSchema(schema, { io: "input" });
  return { $schema, $id: urlOf(document), title, ...rules };
};

const uriOf = (id) => `https://harnesskit.dev/schema/${id.replace("#", ".json#")}`;
