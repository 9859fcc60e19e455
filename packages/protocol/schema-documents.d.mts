import type { z } from "zod";
import type { MethodTable, NotificationTable } from "./src/envelope/method-table.ts";

export interface ProtocolSchemas {
  readonly title: string;
  readonly module: object;
  readonly methods?: MethodTable;
  readonly notifications?: NotificationTable;
  /** The forms that the messages of each type have. */
  readonly messages?: Readonly<Record<string, readonly z.ZodType[]>>;
}

export interface SchemaDocument {
  readonly $schema: string;
  readonly $id: string;
  readonly title: string;
}

export interface ProtocolDocument extends SchemaDocument {
  readonly "x-methods"?: Record<string, { params: { $ref: string }; result: { $ref: string } }>;
  readonly "x-notifications"?: Record<string, { $ref: string }>;
  readonly "x-messages"?: Record<string, { anyOf: { $ref: string }[] }>;
  readonly $defs: Record<string, object>;
}

/** Makes the JSON Schema document of each protocol, by document name. */
export const schemaDocuments: (
  protocols: Record<string, ProtocolSchemas>,
) => Record<string, ProtocolDocument>;

/** Makes the JSON Schema document of a single schema, without a reference to another one. */
export const schemaDocument: (
  document: string,
  options: { readonly title: string; readonly schema: z.ZodType },
) => SchemaDocument;
