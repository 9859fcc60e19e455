import type { z } from "zod";
import type { MethodTable, NotificationTable } from "./src/envelope/method-table.ts";

export interface EventFacts {
  /** Whether the event waits for a decision. */
  readonly blocking: boolean;
  /** Whether that is a decision of the event's own. */
  readonly specialised: boolean;
  /** Whether the event may stand in a batch. */
  readonly batchable: boolean;
  /** Whether its payload is checked in any case. */
  readonly contract: boolean;
}

export interface ProtocolSchemas {
  readonly title: string;
  readonly module: object;
  readonly methods?: MethodTable;
  readonly notifications?: NotificationTable;
  /** The forms that the messages of each type have. */
  readonly messages?: Readonly<Record<string, readonly z.ZodType[]>>;
  /** What an event of each type is, and the schemas of its payload and of the decision about it. */
  readonly events?: Readonly<
    Record<string, EventFacts & { readonly payload: z.ZodType; readonly decision: z.ZodType }>
  >;
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
  readonly "x-events"?: Record<
    string,
    EventFacts & { payload: { $ref: string }; decision: { $ref: string } }
  >;
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
