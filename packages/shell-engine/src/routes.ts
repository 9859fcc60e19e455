import { type ShellContext, ShellErrorCode } from "@harnesskit/protocol/openharness";
import { InvalidArgumentError } from "@harnesskit/wire";
import { type ContinuationClaims, isEngineToken } from "./continuation-token.ts";
import { Thrown } from "./failure.ts";
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
  /** Those that the run can go on with. */
  readonly steps?: Readonly<Record<string, unknown>>;
}

/** What of a request says which handler is asked. */
interface Routed {
  readonly asked: ShellContext;
  readonly isForeign: boolean;
  readonly claims: ContinuationClaims | undefined;
}

const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** Finds handlers. Inherited properties are not handlers. */
export class Router<Context> {
  readonly #handlers: ShellHandlers<Context> & Required<Pick<ShellHandlers<Context>, "plugins" | "sops">>;

  /** Throws `invalid_argument` for a SOP without a first step. */
  constructor({ plugins = {}, sops = {}, ...others }: ShellHandlers<Context>) {
    this.#handlers = { ...others, plugins, sops };
    for (const [id, { steps }] of Object.entries(sops)) {
      if (Object.keys(steps).length > 0) continue;
      throw new InvalidArgumentError(`the SOP ${JSON.stringify(id)} has no first step`);
    }
  }

  /** Whether a handler checks the continuation: one in another form than the engine's, with a token of its own or names without a token. */
  isForeign({ continuation }: ShellContext): boolean {
    if (continuation === undefined || this.#handlers.continuation === undefined) return false;
    const { continuation_token: token, run_id, sop_id } = continuation;
    return token === undefined ? run_id !== undefined || sop_id !== undefined : !isEngineToken(token);
  }

  /** Throws `unknown_sop`, `unknown_plugin` or `not_supported`. */
  routeOf({ asked: { task_hint: task }, isForeign, claims }: Routed): Route<Context> {
    if (isForeign) return this.#route(this.#handlers.continuation, "continuation");
    if (claims?.route !== undefined) return this.#resume(claims.route, claims.step);
    // Hints (section 9): an engine without such routes goes on without them.
    const { sops, plugins } = this.#handlers;
    const has = (table: object) => Object.keys(table).length > 0;
    if (task?.sop_id !== undefined && has(sops)) return this.#sop(task.sop_id, undefined);
    if (task?.plugin_id !== undefined && has(plugins)) return this.#plugin(task.plugin_id);
    if (task?.business_key !== undefined) return this.#business(task.business_key);
    return this.#route(this.#handlers.intent, "intent");
  }

  /** The handler that a continuation was made by. */
  #resume(key: string, step: string | undefined): Route<Context> {
    const [kind = ""] = key.split(":", 1);
    const name = key.slice(kind.length + 1);
    if (kind === "sop") return this.#sop(name, step);
    if (kind === "plugin") return this.#plugin(name);
    if (kind === "business") return this.#business(name);
    return this.#route(this.#handlers[kind === "continuation" ? kind : "intent"], key);
  }

  #sop(id: string, at: string | undefined): Route<Context> {
    const { steps = {} } = own(this.#handlers.sops, id) ?? {};
    const handler = own(steps, at ?? Object.keys(steps)[0] ?? "");
    if (handler) return { handler, key: `sop:${id}`, sop: id, steps };
    const message = "This engine does not have that SOP, or that step of it.";
    throw new ShellEngineError(ShellErrorCode.UnknownSop, message);
  }

  #plugin(id: string): Route<Context> {
    const handler = own(this.#handlers.plugins, id);
    if (handler) return { handler, key: `plugin:${id}` };
    throw new ShellEngineError(ShellErrorCode.UnknownPlugin, "This engine does not have that plugin.");
  }

  #business(businessKey: string): Route<Context> {
    let handler: ShellHandler<Context> | undefined;
    try {
      handler = this.#handlers.businessKey?.(businessKey);
    } catch (error) {
      throw new Thrown(error);
    }
    return handler
      ? { handler, key: `business:${businessKey}` }
      : this.#route(this.#handlers.intent, "intent");
  }

  #route(handler: ShellHandler<Context> | undefined, key: string): Route<Context> {
    if (handler) return { handler, key };
    throw new ShellEngineError(ShellErrorCode.NotSupported, "This engine answers no requests of this kind.");
  }
}
