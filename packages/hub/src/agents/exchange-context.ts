import type { AgentContext, TransportContext } from "../hub-options.ts";
import type { AgentLink } from "./presence.ts";

/** The context of events that come by an exchange. A class, because its transport makes the signal when it is first read. */
export class ExchangeContext implements AgentContext {
  readonly link: AgentLink;
  readonly principal: unknown;
  readonly #transport: TransportContext;

  constructor(link: AgentLink, transport: TransportContext) {
    this.link = link;
    this.principal = transport.principal;
    this.#transport = transport;
  }

  get signal(): AbortSignal {
    return this.#transport.signal as AbortSignal;
  }
}
