import { appendFileSync } from "node:fs";
import { join } from "node:path";
import type { ActionDirective } from "@harnesskit/protocol/openharness";
import {
  createShellEngine,
  type ShellCall,
  ShellEngineError,
  type ShellHandler,
} from "@harnesskit/shell-engine";
import { createHttpServer } from "@harnesskit/transport-http/node";
import { createUnixListener } from "@harnesskit/transport-uds";
import type { Channel } from "@harnesskit/wire";
import type { StartModule } from "../../src/index.ts";

interface Wish {
  readonly see?: true;
  readonly directives?: readonly ActionDirective[];
  readonly continue?: never;
  readonly fail?: { readonly code: string; readonly message?: string; readonly once?: boolean };
  readonly crash?: string;
  readonly log?: string;
  readonly wait_ms?: number;
}

const wishOf = (call: ShellCall): Wish => (call.extensions?.["dev.harnesskit.conformance"] ?? {}) as Wish;

/** The test handler of an engine, as the contract of the suite describes it. */
export const createTestEngine = (directory: string) => {
  let handled = 0;
  const failed = new Set<string | undefined>();
  const seen = (call: ShellCall): ActionDirective => ({
    action_type: "com.example.seen",
    risk_tier: "safe",
    payload: {
      count: handled,
      session_id: call.conversation.sessionId,
      conversation: call.conversation.key,
      user_intent: call.intent ?? null,
      shell: { ...call.shell } as never,
      capabilities: call.shellCapabilities as never,
      attachments: [...call.attachments] as never,
    },
  });
  const intent: ShellHandler = async (call) => {
    handled += 1;
    const { conversation, run } = call;
    const wish = wishOf(call);
    if (wish.log !== undefined) call.log("conformance", { text: wish.log });
    if (wish.wait_ms !== undefined) await new Promise((resolve) => setTimeout(resolve, wish.wait_ms));
    if (wish.crash !== undefined) throw new Error(wish.crash);
    if (wish.fail !== undefined && !(wish.fail.once === true && failed.has(call.requestId))) {
      failed.add(call.requestId);
      const { code, message = "It failed.", once: _, ...options } = wish.fail;
      throw new ShellEngineError(code, message, options);
    }
    if (run !== undefined) {
      const payload = { data: run.data ?? null, session_id: conversation.sessionId };
      return [{ action_type: "com.example.resumed", payload }];
    }
    const question = { action_type: "request_approval", payload: { message: "Shall it go on?" } };
    const directives = [
      ...(wish.continue === undefined ? [] : [question]),
      ...(wish.directives ?? []),
      ...(wish.see === true ? [seen(call)] : []),
    ];
    return { directives, ...(wish.continue !== undefined && { continueWith: { data: wish.continue } }) };
  };
  return createShellEngine({
    handlers: {
      intent,
      sops: { conformance: { steps: { first: () => [{ action_type: "com.example.sop" }] } } },
      continuation: ({ continuation }) => [
        { action_type: "com.example.own", payload: { continuation: { ...continuation } as never } },
      ],
    },
    log: (line) => appendFileSync(join(directory, "engine.log"), `${JSON.stringify(line)}\n`),
  });
};

/** Serves it at a place of the suite. */
export const startShellEngine: StartModule = async ({ endpoint, token, directory }) => {
  const engine = createTestEngine(directory);
  const connect = (channel: Channel<object>) => engine.connect(channel);
  if (endpoint.startsWith("unix:")) {
    const listener = createUnixListener({ path: endpoint.slice(5), framing: "newline" });
    await listener.listen(connect);
    return { close: async () => void (await Promise.all([engine.close(), listener.close()])) };
  }
  const port = Number(new URL(endpoint).port);
  const server = createHttpServer({ port, token, routes: { "/openharness": engine } });
  await server.webSocketListener({ path: "/openharness" }).listen(connect);
  await server.listen();
  return { close: async () => void (await Promise.all([engine.close(), server.close()])) };
};
