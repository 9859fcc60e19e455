import { ShellErrorCode, type TaskHint } from "@harnesskit/protocol/openharness";
import { InvalidArgumentError } from "@harnesskit/wire";
import type { ContinuationClaims } from "./continuation-token.ts";
import { HandlerFault, Thrown } from "./failure.ts";
import type { ShellHandler, Sop } from "./shell-call.ts";
import { ShellEngineError } from "./shell-engine-error.ts";

/** The handlers, by what requests name. */
export interface ShellHandlers<Context = unknown> {
  /** Requests that name no SOP and no plugin. @default `not_supported` */
  readonly intent?: ShellHandler<Context>;
  /** By `task_hint.sop_id`; an id that is not among them is `unknown_sop`. @default none: the hint is ignored */
  readonly sops?: Readonly<Record<string, Sop<Context>>>;
  /** By `task_hint.plugin_id`, where no SOP was found; an id that is not among them is `unknown_plugin`. @default none: the hint is ignored */
  readonly plugins?: Readonly<Record<string, ShellHandler<Context>>>;
  /**
   * By `task_hint.business_key`, where neither is named: returns the handler for a key, or undefined for what is `intent`'s.
   * Asked again when a run is resumed. @default `intent`
   */
  readonly businessKey?: (businessKey: string) => ShellHandler<Context> | undefined;
  /**
   * Requests whose continuation is not in this engine's form: a token of the deployment's own, or a `run_id` or `sop_id` without
   * a token. Reads `call.continuation`, and checks whose it is: the engine cannot. @default `invalid_continuation`
   */
  readonly continuation?: ShellHandler<Context>;
}

/** A handler that was found, and how to find it again. */
export interface Route<Context> {
  readonly handler: ShellHandler<Context>;
  readonly key: string;
  readonly sop?: string;
  readonly step?: string;
  /** Throws for a step that the run cannot go on with. */
  checkStep(step: string | undefined): void;
}

const noSteps = (step: string | undefined): void => {
  if (step !== undefined) throw new HandlerFault("unknown_step", "only SOPs have steps to continue with");
};

/** Finds handlers. Names are looked up in maps: inherited properties are not handlers. */
export class Router<Context> {
  readonly #intent: ShellHandler<Context> | undefined;
  readonly #plugins: ReadonlyMap<string, ShellHandler<Context>>;
  readonly #sops: ReadonlyMap<string, { first: string; steps: ReadonlyMap<string, ShellHandler<Context>> }>;
  readonly #businessKey: ShellHandlers<Context>["businessKey"];
  readonly #continuation: ShellHandler<Context> | undefined;

  constructor({ intent, plugins = {}, sops = {}, businessKey, continuation }: ShellHandlers<Context>) {
    this.#intent = intent;
    this.#continuation = continuation;
    this.#businessKey = businessKey;
    this.#plugins = new Map(Object.entries(plugins));
    this.#sops = new Map(
      Object.entries(sops).map(([id, sop]) => {
        const steps = new Map(Object.entries(sop.steps));
        const [first = ""] = sop.first === undefined ? steps.keys() : [sop.first];
        if (steps.has(first)) return [id, { first, steps }];
        throw new InvalidArgumentError(`the SOP ${JSON.stringify(id)} has no first step`);
      }),
    );
  }

  /** The handler of a new run. Throws `unknown_sop`, `unknown_plugin` or `not_supported`. */
  start(task: TaskHint | undefined): Route<Context> {
    // Hints (section 9): an engine without such routes goes on without them.
    if (task?.sop_id !== undefined && this.#sops.size > 0) return this.#sop(task.sop_id, undefined);
    if (task?.plugin_id !== undefined && this.#plugins.size > 0) return this.#plugin(task.plugin_id);
    if (task?.business_key !== undefined) return this.#business(task.business_key);
    return this.#default();
  }

  /** Whether there is a handler for continuations in another form than the engine's. */
  get takesOwnContinuations(): boolean {
    return this.#continuation !== undefined;
  }

  /** The handler of continuations in another form than the engine's. Throws `not_supported`. */
  ownContinuation(): Route<Context> {
    return this.#route(this.#continuation, "continuation");
  }

  /** The handler that a continuation was made by. */
  resume({ route = "", step }: ContinuationClaims): Route<Context> {
    const at = route.indexOf(":");
    const name = route.slice(at + 1);
    switch (at < 0 ? route : route.slice(0, at)) {
      case "sop":
        return this.#sop(name, step);
      case "plugin":
        return this.#plugin(name);
      case "business":
        return this.#business(name);
      case "continuation":
        return this.ownContinuation();
      default:
        return this.#default();
    }
  }

  #sop(id: string, at: string | undefined): Route<Context> {
    const sop = this.#sops.get(id);
    const step = at ?? sop?.first ?? "";
    const handler = sop?.steps.get(step);
    if (!sop || !handler) {
      throw new ShellEngineError(
        ShellErrorCode.UnknownSop,
        "This engine does not have that SOP, or that step of it.",
      );
    }
    const checkStep = (next: string | undefined): void => {
      if (next !== undefined && sop.steps.has(next)) return;
      throw new HandlerFault("unknown_step", "a SOP continues with one of its own steps");
    };
    return { handler, key: `sop:${id}`, sop: id, step, checkStep };
  }

  #plugin(id: string): Route<Context> {
    const handler = this.#plugins.get(id);
    if (!handler)
      throw new ShellEngineError(ShellErrorCode.UnknownPlugin, "This engine does not have that plugin.");
    return { handler, key: `plugin:${id}`, checkStep: noSteps };
  }

  #business(businessKey: string): Route<Context> {
    let handler: ShellHandler<Context> | undefined;
    try {
      handler = this.#businessKey?.(businessKey);
    } catch (error) {
      throw new Thrown(error);
    }
    if (!handler) return this.#default();
    return { handler, key: `business:${businessKey}`, checkStep: noSteps };
  }

  #default(): Route<Context> {
    return this.#route(this.#intent, "intent");
  }

  #route(handler: ShellHandler<Context> | undefined, key: string): Route<Context> {
    if (handler) return { handler, key, checkStep: noSteps };
    throw new ShellEngineError(ShellErrorCode.NotSupported, "This engine answers no requests of this kind.");
  }
}
