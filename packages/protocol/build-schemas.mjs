// Writes schema/<protocol>.json from the zod sources, so that other languages validate against the same rules.
import { mkdirSync, writeFileSync } from "node:fs";
import { z } from "zod";
import * as envelope from "./dist/envelope.js";
import * as threads from "./dist/threads.js";

const draft = "https://json-schema.org/draft/2020-12/schema";

/** `FooSchema` exports become `$defs.Foo`; methods and notifications are listed by their wire names. */
const definitions = (module) => {
  const registry = z.registry();
  for (const [name, value] of Object.entries(module)) {
    if (name.endsWith("Schema") && value instanceof z.ZodType) registry.add(value, { id: name.slice(0, -6) });
  }
  const { schemas } = z.toJSONSchema(registry, { uri: (id) => `#/$defs/${id}`, io: "input" });
  for (const schema of Object.values(schemas)) {
    delete schema.$schema;
    delete schema.$id;
  }
  return schemas;
};

const single = (schema) => {
  const json = z.toJSONSchema(schema, { io: "input" });
  delete json.$schema;
  return json;
};

const methods = (table) =>
  Object.fromEntries(
    Object.entries(table).map(([name, { params, result }]) => [
      name,
      { params: single(params), result: single(result) },
    ]),
  );

const notifications = (table) =>
  Object.fromEntries(Object.entries(table).map(([name, schema]) => [name, single(schema)]));

const write = (name, title, body) => {
  const file = new URL(`./schema/${name}.json`, import.meta.url);
  const document = { $schema: draft, $id: `https://harnesskit.dev/schema/${name}.json`, title, ...body };
  writeFileSync(file, `${JSON.stringify(document, null, 2)}\n`);
};

mkdirSync(new URL("./schema/", import.meta.url), { recursive: true });
write("envelope", "JSON-RPC 2.0 messages", { $defs: definitions(envelope) });
write("threads", "The thread protocol", {
  "x-methods": methods(threads.threadMethods),
  "x-notifications": notifications(threads.threadNotifications),
  $defs: definitions(threads),
});
