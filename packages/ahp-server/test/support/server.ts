import { createMemoryAuditSink } from "@harnesskit/audit";
import { createManualClock } from "@harnesskit/wire/testing";
import { type AhpHandlers, type AhpServerOptions, createAhpServer } from "../../src/index.ts";
import type { Received } from "./agent.ts";
import { handshake, request } from "./messages.ts";

/** A server with a clock that stands still, its audit log, and what it told `onError`. */
export const startServer = (
  handlers: AhpHandlers<any> = {},
  options: Partial<Omit<AhpServerOptions<any>, "handlers">> = {},
) => {
  const clock = createManualClock();
  const audit = createMemoryAuditSink({ clock: () => clock.now() });
  const errors: unknown[] = [];
  const server = createAhpServer<any>({
    handlers,
    name: "test-harness",
    version: "9.9.9",
    clock,
    audit,
    onError: (error) => errors.push(error),
    ...options,
  });
  const context = { principal: "someone" };
  return {
    server,
    clock,
    errors,
    context,
    entries: () => audit.entries(),
    /** One exchange. */
    post: (message: unknown, from: unknown = context) =>
      server.handle(message, from) as Promise<Received | undefined>,
    /** A request of an exchange. */
    ask: async (method: string, params?: unknown, from: unknown = context): Promise<Received> =>
      (await server.handle(request("q1", method, params), from)) as Received,
    shake: (more: object = {}, from: unknown = context) =>
      server.handle(request("h1", "ahp/handshake", handshake(more)), from) as Promise<Received>,
  };
};
