import { readFileSync } from "node:fs";
import { join } from "node:path";
import { toTable } from "../marked-table.mjs";
import { repositoryRoot } from "../root.mjs";

const cell = (text) => text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ").trim();
const code = (text) => `\`${cell(text)}\``;

function readSchema(protocol) {
  const file = join(repositoryRoot, `packages/protocol/schema/${protocol}.json`);
  return JSON.parse(readFileSync(file, "utf8"));
}

/** A schema with its `$ref` followed, and `{ anyOf: [one] }` opened. Those of other files stay as they are. */
function resolve(schema, document) {
  if (schema.anyOf?.length === 1) return resolve(schema.anyOf[0], document);
  const name = schema.$ref?.startsWith(`${document.$id}#/$defs/`)
    ? schema.$ref.split("/$defs/")[1]
    : undefined;
  const target = name === undefined ? undefined : document.$defs[name];
  return target === undefined ? schema : resolve(target, document);
}

/**
 * The type of a field in a few characters: `string`, `"once" | "always"`, `Thread[]`. An object without a name is written with its
 * fields, one within it as `object`.
 */
function typeOf(schema, depth = 1) {
  const inner = (part) => typeOf(part, depth);
  if (schema.$ref !== undefined) return schema.$ref.split("/$defs/")[1] ?? "any";
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map(inner))].join(" | ");
  if (schema.type === "array") {
    const item = inner(schema.items ?? {});
    return item.includes(" | ") && !item.startsWith("{") ? `(${item})[]` : `${item}[]`;
  }
  if (Array.isArray(schema.type)) return schema.type.join(" | ");
  if (schema.properties === undefined || depth === 0) return schema.type ?? "any";
  const { properties, required = [] } = schema;
  const fields = Object.entries(properties).map(
    ([name, type]) => `${name}${required.includes(name) ? "" : "?"}: ${typeOf(type, depth - 1)}`,
  );
  return `{ ${fields.join(", ")} }`;
}

/** The fields of a message in one line: `{ threadId: string, limit?: integer }`. */
function fieldsOf(schema, document) {
  const type = typeOf(resolve(schema, document), 2);
  return type === "object" ? "{}" : type;
}

/** A table with a row for each entry of a part of the document: its name, and what `cellsOf` gives of it. */
const table = (part, head, cellsOf) => (document) =>
  toTable(
    head,
    Object.entries(document[part]).map(([name, entry]) => [code(name), ...cellsOf(entry, document)]),
  );

const kinds = {
  methods: table("x-methods", ["method", "params", "result"], ({ params, result }, document) => [
    code(fieldsOf(params, document)),
    result === undefined ? "" : code(fieldsOf(result, document)),
  ]),
  notifications: table("x-notifications", ["notification", "params"], (params, document) => [
    code(fieldsOf(params, document)),
  ]),
  messages: table("x-messages", ["message", "payload"], (message, document) => [
    code(fieldsOf(resolve(message, document).properties?.payload ?? message, document)),
  ]),
  events: table(
    "x-events",
    ["event", "waits for a decision", "payload", "decision"],
    ({ blocking, payload, decision }, document) => [
      ...[blocking ? "yes" : "no", code(fieldsOf(payload, document))],
      blocking ? code(typeOf(decision)) : "",
    ],
  ),
};

/** The fields of the named schemas, a table for each. */
const fields = (document, names) =>
  names
    .map((name) => {
      const { properties = {}, required = [] } = resolve(document.$defs[name], document);
      const rows = Object.entries(properties).map(([field, schema]) => [
        code(field),
        code(typeOf(schema)),
        required.includes(field) ? "yes" : "",
        cell(schema.description ?? ""),
      ]);
      return `### ${name}\n\n${toTable(["field", "type", "required", ""], rows)}`;
    })
    .join("\n\n");

/** The names of types between the backquotes of a page. */
const namedIn = (markdown) =>
  Array.from(markdown.matchAll(/`([^`\n]*)`/g), ([, text]) => text.replaceAll(/"[^"]*"/g, "")).flatMap(
    (text) => text.match(/(?<![\w.$-])[A-Z][a-zA-Z]+\b/g) ?? [],
  );

/** Each type that a page names and does not explain, with the types that it names itself. */
function types(document, page) {
  const rows = new Map();
  const add = (markdown) => {
    for (const name of namedIn(markdown)) {
      const schema = document.$defs[name];
      if (schema === undefined || rows.has(name) || page.includes(`### ${name}\n`)) continue;
      rows.set(name, code(typeOf(resolve(schema, document), 2)));
      add(rows.get(name));
    }
  };
  add(page);
  const sorted = [...rows].sort(([a], [b]) => a.localeCompare(b, "en"));
  return toTable(
    ["type", "is"],
    sorted.map(([name, is]) => [code(name), is]),
  );
}

/**
 * Fills in the markers of a protocol's page: `<!-- methods of threads -->` (`methods`, `notifications`, `messages`, `events`) and
 * `<!-- fields of chat: ChatMessage, SignalDescriptor -->`, from the JSON Schema files of `protocol`; then `<!-- types of threads -->`
 * with each type that is named and has no table.
 */
export const withMessageTables = (markdown) => {
  const page = markdown.replaceAll(
    /<!-- (\w+) of (\w+)(?:: ([\w, ]+))? -->/g,
    (whole, kind, protocol, names) => {
      if (kind === "fields") return fields(readSchema(protocol), names.split(/,\s*/));
      return Object.hasOwn(kinds, kind) ? kinds[kind](readSchema(protocol)) : whole;
    },
  );
  return page.replaceAll(/<!-- types of (\w+) -->/g, (_, protocol) => types(readSchema(protocol), page));
};
