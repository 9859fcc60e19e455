import type { ActionDirective, ActionRegistry } from "@harnesskit/protocol/openharness";
import { InvalidArgumentError } from "@harnesskit/wire";
import type { DirectiveExecutor } from "./shell-client-options.ts";

/** What this shell can carry out. A type that an object merely inherits is none. */
export class Executors {
  readonly #byType = new Map<string, DirectiveExecutor>([["noop", () => undefined]]);

  /** Throws `invalid_argument`. */
  constructor(given: Readonly<Record<string, DirectiveExecutor>>) {
    for (const [type, executor] of Object.entries(given)) {
      if (typeof executor !== "function") throw new InvalidArgumentError(`executors.${type} is a function`);
      if (type === "request_approval") {
        throw new InvalidArgumentError("a request_approval has no executor: it goes to `approve`");
      }
      this.#byType.set(type, executor);
    }
  }

  get(type: string): DirectiveExecutor | undefined {
    return this.#byType.get(type);
  }
}

/** Whether a directive's payload is one of its type; a type that is not registered takes any. */
export const fitsItsType = (directive: ActionDirective, registry: ActionRegistry): boolean => {
  if (registry.get(directive.action_type) === undefined) return true;
  try {
    return registry.problemOf(directive) === undefined;
  } catch {
    // A schema that throws has not accepted it.
    return false;
  }
};
