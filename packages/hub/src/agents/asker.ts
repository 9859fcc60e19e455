import { principalKey } from "@harnesskit/wire";
import type { Asker } from "../desk/question-budget.ts";
import type { AgentLink } from "./presence.ts";

/** Who asks over a link. Exchanges have no connection: what they authenticate with is their client. */
export const askerOf = (link: AgentLink, principal: unknown, exchanges: AgentLink): Asker => {
  const credential = `${link.transport} ${principalKey(principal)}`;
  return { client: link === exchanges ? credential : link.name, credential };
};
