import { findHost, HookError } from "@harnesskit/agent-hooks";
import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { Guard } from "./guard.ts";

export interface HookRouteOptions {
  /** How long the host waits, in milliseconds: the `timeout` of the hook in its settings. @default the host's own default */
  readonly timeoutMs?: number;
}

/** A route of `createHttpServer` of `@harnesskit/transport-http`. */
export interface HookRoute {
  readonly handle: (message: unknown, context: { readonly signal?: AbortSignal }) => Promise<JsonObject>;
}

/**
 * Answers the HTTP hooks of a host, such as `"/hooks/claude-code": createHookRoute(guard, "claude-code")`. The body of the request is the hook's
 * input, and that of the reply the host's answer, an empty object for no decision. `handle` rejects with a {@link HookError} for what
 * cannot be read, which the server answers with a status that is not 2xx: with `"onFailure": "block"` the host refuses
 * the call then. Throws `unknown_host` (`HookError`).
 */
export const createHookRoute = (guard: Guard, hostId: string, options: HookRouteOptions = {}): HookRoute => {
  const host = findHost(hostId);
  return {
    async handle(message, { signal = new AbortController().signal }) {
      const request = { host: host.id, input: JSON.stringify(message), ...options };
      const { exitCode, stdout, reason } = await guard.answer(request, signal);
      if (exitCode === 0) return JSON.parse(stdout) as JsonObject;
      throw new HookError("hook_invalid", reason ?? `${host.name}: the hook's input cannot be read`);
    },
  };
};
