import type { AgentState } from "@harnesskit/protocol/hub";
import { failureText, isLost } from "./failures.ts";
import type { HubLink } from "./hub-link.ts";
import { Store } from "./store.ts";

/** How often the list is read while it is looked at. */
const refreshMs = 4000;

/** The agents that have spoken to the hub, those seen last first. */
export class Agents {
  readonly list = new Store<readonly AgentState[]>([]);
  readonly isLoaded = new Store(false);
  readonly problem = new Store<string | undefined>(undefined);
  readonly #link: HubLink;

  constructor(link: HubLink) {
    this.#link = link;
    const refresh = () => {
      if (!document.hidden && link.state.value === "ready") void this.#refresh();
    };
    link.state.subscribe(refresh);
    setInterval(refresh, refreshMs);
  }

  async #refresh(): Promise<void> {
    try {
      const { agents } = await this.#link.client.call("agents.list");
      if (JSON.stringify(agents) !== JSON.stringify(this.list.value)) this.list.set(agents);
      this.isLoaded.set(true);
      this.problem.set(undefined);
    } catch (error) {
      if (!isLost(error)) this.problem.set(failureText(error));
    }
  }
}
