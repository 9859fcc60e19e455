import type { MethodTable, NotificationTable } from "./src/envelope/method-table.ts";

export interface ProtocolSchemas {
  readonly title: string;
  readonly module: object;
  readonly methods?: MethodTable;
  readonly notifications?: NotificationTable;
}

export interface SchemaDocument {
  readonly $schema: string;
  readonly $id: string;
  readonly title: string;
  readonly "x-methods"?: Record<string, { params: { $ref: string }; result: { $ref: string } }>;
  readonly "x-notifications"?: Record<string, { $ref: string }>;
  readonly $defs: Record<string, object>;
}

/** Makes the JSON Schema document of each protocol, by document name. */
export const schemaDocuments: (protocols: Record<string, ProtocolSchemas>) => Record<string, SchemaDocument>;
