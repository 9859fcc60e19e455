import type { AgentState } from "@harnesskit/protocol/hub";
import { failureText } from "./failures.ts";
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
    link.onReady(() => void this.refresh());
    setInterval(() => {
      if (!document.hidden && link.state.value === "ready") void this.refresh();
    }, refreshMs);
  }

  async refresh(): Promise<void> {
    try {
      const { agents } = await this.#link.call("agents.list", {});
      this.list.set(agents);
      this.isLoaded.set(true);
      this.problem.set(undefined);
    } catch (error) {
      this.problem.set(failureText(error));
    }
  }
}
