import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createMemoryAuditSink } from "@harnesskit/audit";
import { type RunningCore, type StreamChunk, startCore, type ToolCall } from "@harnesskit/core-runtime";
import { agentEnvironment } from "@harnesskit/protocol/runtime";
import { createUnixListener } from "@harnesskit/transport-uds";
import { type Channel, HarnessError, lengthPrefixCodec } from "@harnesskit/wire";
import type { StartModule } from "../../src/index.ts";
import { tcpListener } from "./tcp.ts";

type Params = Record<string, any>;

const silent = { connected() {}, registered() {}, health() {}, disconnected() {} };

/** Keeps out what has no value. */
const given = (values: Params): Params =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

const denied = "conformance-denied";

/** The driver of our core: what the suite has the user of a core do. */
export const startRuntimeCore: StartModule = async ({ endpoint, directory }) => {
  const audit = createMemoryAuditSink();
  const calls = new Map<string, { call: ToolCall; chunks: AsyncIterator<StreamChunk> }>();
  let core: RunningCore | undefined;
  let listener: { close(): Promise<void> } | undefined;
  let launches = 0;
  const running = (): RunningCore => {
    if (core === undefined) throw new HarnessError("not_listening", "listen comes first");
    return core;
  };
  const ended = async (call: ToolCall): Promise<object> => ({ call_id: call.callId, ...(await call.result) });

  const listen = async (options: Params): Promise<object> => {
    core = await startCore({
      audit,
      socketDirectory: directory,
      authorize: ({ caller, permissions }) =>
        caller?.id === denied || permissions.includes(denied)
          ? { allowed: false, reason: "it is not permitted" }
          : { allowed: true },
      limits: given({
        maxFrameBytes: options.max_frame_bytes,
        maxInFlightRequests: options.max_inflight_requests,
        maxQueuedCalls: options.max_queued_calls,
        maxToolInputBytes: options.max_tool_input_bytes,
        maxToolOutputBytes: options.max_tool_output_bytes,
      }),
      ...given({
        heartbeatIntervalMs: options.heartbeat_interval_ms,
        tokenLifetimeMs: options.token_lifetime_ms,
        cancelGraceMs: options.cancel_grace_ms,
      }),
      restart: { policy: "never" },
      startTimeoutMs: 20_000,
    });
    const frames = given({ maxFrameBytes: options.max_frame_bytes });
    const started = endpoint.startsWith("unix:")
      ? createUnixListener({ path: endpoint.slice(5), ...frames })
      : tcpListener(endpoint, lengthPrefixCodec(frames));
    await started.listen((channel: Channel<object>) => running().connect(channel));
    listener = started;
    return {};
  };

  const operations: Record<string, (params: Params) => unknown> = {
    listen,
    admit: ({ agent_id, manifest_hash, permissions = [] }) => {
      const manifest = { id: agent_id, version: "1.0.0", command: ["true"], permissions } as const;
      const launch = { launchId: `admitted-${++launches}`, agentId: agent_id, manifest: manifest as never };
      const admitted = { ...launch, ...given({ manifestHash: manifest_hash }) };
      return { token: running().admit(admitted, silent).token };
    },
    launch: async ({ agent_id, command }) => {
      const folder = join(directory, agent_id);
      await mkdir(folder, { mode: 0o700 });
      const manifest = JSON.stringify({ id: agent_id, version: "1.0.0", command });
      await writeFile(join(folder, "opensentience.agent.json"), manifest);
      // It settles when the agent has registered its tools, which a probe does not do.
      running()
        .launch(folder)
        .catch(() => {});
      const { socket, token, heartbeatIntervalMs, maxFrameBytes } = agentEnvironment;
      return { socket, token, heartbeat_interval_ms: heartbeatIntervalMs, max_frame_bytes: maxFrameBytes };
    },
    call: ({ name, tool_id, input, ...options }) => {
      const call = running().call(
        tool_id,
        input,
        given({
          timeoutMs: options.timeout_ms,
          idempotencyKey: options.idempotency_key,
          correlationId: options.correlation_id,
          causationId: options.causation_id,
          directiveId: options.directive,
          caller: options.caller,
          actor: options.actor,
          context: options.context,
        }),
      );
      calls.set(name, { call, chunks: call.stream[Symbol.asyncIterator]() });
      return ended(call);
    },
    cancel: ({ name, reason }) => {
      calls.get(name)?.call.cancel(reason);
      return {};
    },
    chunk: async ({ name }) => ({ chunk: (await calls.get(name)?.chunks.next())?.value ?? null }),
    issue: async ({ tool_id, input, max_uses }) => {
      const until = new Date(Date.now() + 60_000).toISOString();
      const directive = {
        tool_id,
        input,
        max_uses,
        until,
        issued_by: { type: "system", id: "suite" },
      } as const;
      return { directive: (await running().directives.issue(directive)).id };
    },
    tools: () => ({
      tools: running()
        .tools()
        .map(({ tool_id }) => tool_id),
    }),
    health: ({ agent_id }) => {
      const agent = running()
        .agents()
        .find(({ agentId }) => agentId === agent_id);
      return { status: agent?.status ?? "disconnected" };
    },
    ping: async ({ agent_id }) => ({ ms: await running().ping(agent_id) }),
    goodbye: ({ agent_id, reason, retry_after_ms }) => ({
      done: running().goodbye(agent_id, { reason, ...given({ retryAfterMs: retry_after_ms }) }),
    }),
    audit: () => ({
      events: audit.entries().map((entry) => ({ ...entry, ...given({ code: entry.details?.code }) })),
    }),
  };

  return {
    do: async (operation, params) => (await operations[operation]?.(params as Params)) ?? {},
    async close() {
      await core?.close();
      await listener?.close();
    },
  };
};
