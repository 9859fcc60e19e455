import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { Actor, Caller } from "@harnesskit/protocol/runtime";
import type { ToolInfo } from "./judge-tool.ts";

/** A call that asks whether it may be made (section 4.3.1). */
export interface AuthorizationRequest {
  readonly tool: ToolInfo;
  /** What the agent's manifest declares that its tools need; empty without a manifest. `tool.permissions` may name less. */
  readonly permissions: readonly string[];
  readonly caller: Caller | undefined;
  readonly actor: Actor | undefined;
  /** The directive that asks for the call, if one does. */
  readonly directiveId: string | undefined;
  readonly correlationId: string | undefined;
  readonly causationId: string | undefined;
  readonly callId: string;
  /** What the tool will get, checked against its schema. Not to be changed. */
  readonly input: Readonly<JsonObject>;
}

/** Allowed, or not and why; the reason and the details go to the caller and must be safe. */
export type Authorization =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly reason: string; readonly details?: JsonObject };

/**
 * Decides about a call before it is sent. Without a valid decision the call is refused.
 */
export type Authorize = (request: AuthorizationRequest) => Authorization | PromiseLike<Authorization>;
