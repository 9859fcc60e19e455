import type { JsonValue } from "./json.ts";

/** A request id: a string, a number or null (JSON-RPC 2.0, section 4). 0 and "" are ids like any other. */
export type RequestId = string | number | null;

/** Parameters are an array or an object, or absent (section 4.2). */
export type Params = JsonValue[] | { [key: string]: JsonValue };

/** What went wrong, for programs (`code`, `data`) and for people (`message`) (section 5.1). */
export interface ErrorObject {
  code: number;
  message: string;
  data?: JsonValue | undefined;
}
