import { AsyncResource } from "node:async_hooks";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { CoreParts } from "../server/handler-options.ts";
import type { Answer } from "../server/request-view.ts";
import type { Connection } from "./connection.ts";
import { NodeRequest } from "./node-request.ts";

/** A request on its way to its answer, with the async context that it came in. */
export class ServedRequest<Principal> extends AsyncResource {
  readonly parts: CoreParts<Principal>;
  readonly connection: Connection;
  readonly incoming: IncomingMessage;
  readonly response: ServerResponse;
  readonly request: NodeRequest;
  answer: Answer | undefined;

  constructor(
    parts: CoreParts<Principal>,
    connection: Connection,
    incoming: IncomingMessage,
    response: ServerResponse,
    beforeBody: (() => void) | undefined,
  ) {
    super("HarnessKitRequest");
    this.parts = parts;
    this.connection = connection;
    this.incoming = incoming;
    this.response = response;
    this.request = new NodeRequest(incoming, response, beforeBody);
    response.on("close", connection.begin(this.request));
  }
}
