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

const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** Finds handlers. Inherited properties are not handlers. */
export class Router<Context> {
  readonly #handlers: ShellHandlers<Context> & Required<Pick<ShellHandlers<Context>, "plugins" | "sops">>;

  /** Throws `invalid_argument` for a SOP without a first step. */
  constructor({ plugins = {}, sops = {}, ...others }: ShellHandlers<Context>) {
    this.#handlers = { ...others, plugins, sops };
    for (const [id, { steps, first = Object.keys(steps)[0] ?? "" }] of Object.entries(sops)) {
      if (Object.hasOwn(steps, first)) continue;
      throw new InvalidArgumentError(`the SOP ${JSON.stringify(id)} has no first step`);
    }
  }

  /** The handler of a new run. Throws `unknown_sop`, `unknown_plugin` or `not_supported`. */
  start(task: TaskHint | undefined): Route<Context> {
    // Hints (section 9): an engine without such routes goes on without them.
    const { sops, plugins } = this.#handlers;
    const has = (table: object) => Object.keys(table).length > 0;
    if (task?.sop_id !== undefined && has(sops)) return this.#sop(task.sop_id, undefined);
    if (task?.plugin_id !== undefined && has(plugins)) return this.#plugin(task.plugin_id);
    if (task?.business_key !== undefined) return this.#business(task.business_key);
    return this.#default();
  }

  /** Whether there is a handler for continuations in another form than the engine's. */
  get takesOwnContinuations(): boolean {
    return this.#handlers.continuation !== undefined;
  }

  /** The handler of continuations in another form than the engine's. Throws `not_supported`. */
  ownContinuation(): Route<Context> {
    return this.#route(this.#handlers.continuation, "continuation");
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
    const sop = own(this.#handlers.sops, id);
    const step = at ?? sop?.first ?? Object.keys(sop?.steps ?? {})[0] ?? "";
    const handler = sop && own(sop.steps, step);
    if (!handler) {
      throw new ShellEngineError(
        ShellErrorCode.UnknownSop,
        "This engine does not have that SOP, or that step of it.",
      );
    }
    const checkStep = (next: string | undefined): void => {
      if (next !== undefined && Object.hasOwn(sop.steps, next)) return;
      throw new HandlerFault("unknown_step", "a SOP continues with one of its own steps");
    };
    return { handler, key: `sop:${id}`, sop: id, step, checkStep };
  }

  #plugin(id: string): Route<Context> {
    const handler = own(this.#handlers.plugins, id);
    if (!handler)
      throw new ShellEngineError(ShellErrorCode.UnknownPlugin, "This engine does not have that plugin.");
    return { handler, key: `plugin:${id}`, checkStep: noSteps };
  }

  #business(businessKey: string): Route<Context> {
    let handler: ShellHandler<Context> | undefined;
    try {
      handler = this.#handlers.businessKey?.(businessKey);
    } catch (error) {
      throw new Thrown(error);
    }
    if (!handler) return this.#default();
    return { handler, key: `business:${businessKey}`, checkStep: noSteps };
  }

  #default(): Route<Context> {
    return this.#route(this.#handlers.intent, "intent");
  }

  #route(handler: ShellHandler<Context> | undefined, key: string): Route<Context> {
    if (handler) return { handler, key, checkStep: noSteps };
    throw new ShellEngineError(ShellErrorCode.NotSupported, "This engine answers no requests of this kind.");
  }
}
