import type { EventBody } from "@harnesskit/protocol/threads";
import type { Spinner } from "../terminal/spinner.ts";

/** Tells a spinner from the events of a thread what works: the model, a tool, or nothing while a user is asked. */
export class WorkSigns {
  readonly #spinner: Spinner | undefined;
  /** Questions that wait for an answer. */
  readonly #asked = new Set<string>();

  constructor(spinner: Spinner | undefined) {
    this.#spinner = spinner;
  }

  observe({ type, data }: EventBody): void {
    if (!this.#spinner) return;
    switch (type) {
      case "turn.started":
        this.#works("working");
        break;
      case "item.started":
        if (data.type === "tool_exec") this.#works("running");
        break;
      case "item.completed":
        if (data.type === "tool_exec") this.#works("working");
        break;
      case "approval.requested":
        this.#asked.add(data.requestId);
        this.#spinner.rest();
        break;
      case "approval.resolved":
        this.#asked.delete(data.requestId);
        this.#works("running");
        break;
      case "turn.completed":
      case "turn.error":
        this.#asked.clear();
        this.#spinner.rest();
    }
  }

  #works(label: string): void {
    if (this.#asked.size === 0) this.#spinner?.work(label);
  }
}
