import { createShellClient, type EngineEndpoint } from "@harnesskit/shell-client";
import { createHttpExchange, createWebSocketTransport } from "@harnesskit/transport-http/node";
import { createChildTransport } from "@harnesskit/transport-stdio";
import { createUnixTransport } from "@harnesskit/transport-uds";
import * as z from "zod";
import type { StartModule } from "../../src/index.ts";

const engineAt = (endpoint: string, token: string): EngineEndpoint => {
  const credentials = { bearer: token };
  if (endpoint.startsWith("http")) return createHttpExchange({ url: endpoint, credentials });
  if (endpoint.startsWith("ws")) return createWebSocketTransport({ url: endpoint, credentials });
  return endpoint.startsWith("unix:")
    ? createUnixTransport({ path: endpoint.slice(5), framing: "newline" })
    : createChildTransport({ command: "/bin/sh", args: ["-c", `exec ${endpoint.slice(6)}`] });
};

/** The driver of our shell: a user who answers as the suite says, and notes what the shell does. */
export const startShellClient: StartModule = async ({ endpoint, token }) => {
  let did: object[] = [];
  let approve: "approved" | "refused" | undefined;
  const carryOut = async ({ action_type, payload }: { action_type: string; payload?: any }) => {
    if (payload?.ms !== undefined) await new Promise((resolve) => setTimeout(resolve, payload.ms));
    did.push({ done: action_type, ...(payload?.name && { name: payload.name }) });
  };
  const shell = createShellClient({
    engine: engineAt(endpoint, token),
    shell: { shell_kind: "conformance", shell_version: "1.0.0", locale: "en-US", timezone: "Europe/Berlin" },
    executors: {
      render_message: ({ payload }) => did.push({ shown: payload?.message }),
      simulate_action: carryOut,
      "com.example.work": carryOut,
    },
    actionTypes: [{ type: "com.example.work", payload: z.looseObject({}), defaultRisk: "safe" }],
    environment: { tiers: { os: "public", active_window: "restricted" } },
    retry: { initialDelayMs: 20 },
    approve: ({ directive }) => {
      did.push({ asked: directive.action_type });
      return approve;
    },
    onDenials: (denials) => void did.push(...denials.map(({ capability }) => ({ denied: capability }))),
    onDiagnostic: ({ code }) => did.push({ reported: code }),
  });
  return {
    async do(operation, params: any) {
      if (operation !== "send") return await shell.close();
      const { approve: answer, ...ask } = params;
      did = [];
      approve = answer ?? undefined;
      const mine = did;
      const { status, error } = await shell.send(ask);
      return { status, code: error?.code, did: mine };
    },
    close: () => shell.close(),
  };
};
