import * as z from "zod";
import * as ahp from "../../src/ahp/index.ts";
import * as chat from "../../src/chat/index.ts";
import * as envelope from "../../src/envelope/index.ts";
import * as openharness from "../../src/openharness/index.ts";
import { publishedDocuments } from "../../src/published-documents.ts";
import * as runtime from "../../src/runtime/index.ts";
import * as threads from "../../src/threads/index.ts";
import { ahpDocuments } from "../ahp-documents.ts";

export const files = publishedDocuments();

type Refs = Readonly<Record<string, { readonly $ref: string }>>;
type Published = readonly [name: string, schema: z.ZodType, ref: string];

const exported = Object.entries({ envelope, threads, runtime, ahp, chat, openharness }).flatMap(
  ([file, module]) =>
    Object.entries(module).flatMap(([name, schema]): Published[] =>
      name.endsWith("Schema") && schema instanceof z.ZodType
        ? [[name, schema, `https://harnesskit.dev/schema/${file}.json#/$defs/${name.slice(0, -6)}`]]
        : [],
    ),
);

const methodsOf = (
  methods: Readonly<Record<string, { readonly params: z.ZodType; readonly result: z.ZodType }>>,
  refs: Readonly<Record<string, Refs>> = {},
) =>
  Object.entries(methods).flatMap(([name, { params, result }]): Published[] => [
    [`${name} params`, params, refs[name]?.params?.$ref ?? ""],
    [`${name} result`, result, refs[name]?.result?.$ref ?? ""],
  ]);

/** `core.tool.call` is `CoreToolCall`. */
const toPascal = (type: string): string =>
  type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase());

const messages = Object.entries({ ...runtime.agentMessages, ...runtime.coreMessages }).map(
  ([type, schema]): Published => [
    `${toPascal(type)}Schema`,
    schema,
    files.runtime["x-messages"]?.[type]?.anyOf[0]?.$ref ?? "",
  ],
);

const events = Object.entries(ahp.ahpEvents).flatMap(([type, { payload, decision }]): Published[] => {
  const refs = files.ahp["x-events"]?.[type];
  const pairs: Published[] = [
    [`${toPascal(type)}PayloadSchema`, payload, refs?.payload.$ref ?? ""],
    [`${toPascal(type)}DecisionSchema`, decision, refs?.decision.$ref ?? ""],
  ];
  return pairs.filter(([name]) => name in ahpDocuments);
});

const notifications = Object.entries(threads.threadNotifications).map(
  ([name, schema]): Published => [name, schema, files.threads["x-notifications"]?.[name]?.$ref ?? ""],
);

/** Every schema that is exported or in a table of messages, by its name, and where its JSON Schema is. */
export const published: ReadonlyMap<string, Published> = new Map(
  [
    ...messages,
    ...events,
    ...exported,
    ...methodsOf(threads.threadMethods, files.threads["x-methods"]),
    ...methodsOf(ahp.ahpMethods, files.ahp["x-methods"]),
    ...notifications,
  ].map((each) => [each[0], each]),
);
