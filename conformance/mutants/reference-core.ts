import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chmodSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import type { StartModule } from "../src/index.ts";
import { CoreCalls } from "./reference-core-calls.ts";
import { type Launch, registerTools, type Session } from "./reference-core-tools.ts";
import {
  envelopeOf,
  hasEnvelope,
  hasOnly,
  linksOf,
  type Message,
  type RuntimeDeviation,
  readMessages,
  writeMessage,
} from "./runtime-frames.ts";

const helloFields = ["session_token", "agent_id", "agent_version", "protocol", "manifest_hash", "sdk"];

/** A small core of the runtime protocol behind the driver of the suite, or a mutant of it. */
export const startReferenceCore =
  (deviation: RuntimeDeviation = {}): StartModule =>
  async ({ endpoint }) => {
    const skips = (rule: string): boolean => deviation.skip === rule;
    const launches = new Map<string, Launch>();
    const sessions = new Map<string, Session>();
    const sockets = new Set<Socket>();
    const children: ChildProcess[] = [];
    const events: object[] = [];
    const logged: string[] = [];
    const pings = new Map<string, (result: object) => void>();
    let options: Message = {};
    const audit = (action: string, more: object = {}): void => void events.push({ action, ...more });
    const redact = (text: string): string =>
      skips("redaction")
        ? text
        : [...launches.keys()].reduce(
            (shown, token) => (token === "" ? shown : shown.replaceAll(token, "***")),
            text,
          );
    const calls = new CoreCalls({ skips, sessions, options: () => options, audit, redact });

    const admit = (agentId: string, permissions: readonly string[] = []): string => {
      const token = skips("tokens") ? "the-same-token-for-all" : randomUUID() + randomUUID();
      const validUntil = Date.now() + (options.token_lifetime_ms ?? 60_000);
      launches.set(token, { agentId, token, permissions, validUntil, uses: 1 });
      if (skips("quiet")) audit("agent.admitted", { token });
      if (skips("quiet-log")) logged.push(token);
      return token;
    };

    /** Why a hello is refused. */
    const refusalOf = (payload: Message): string | undefined => {
      const launch = launches.get(payload.session_token);
      if (skips("known-fields") && !hasOnly(payload, ...helloFields)) return "protocol.invalid_message";
      if (launch === undefined) return skips("tokens-checked") ? undefined : "protocol.unauthorized";
      if (launch.agentId !== payload.agent_id && !skips("agent-ids")) return "protocol.unauthorized";
      if (launch.uses < 1 && !skips("one-hello")) return "protocol.unauthorized";
      if (Date.now() > launch.validUntil && !skips("lifetime")) return "protocol.unauthorized";
      const speaks = payload.protocol?.supported_versions?.includes(1);
      if (!speaks && !skips("versions")) return "protocol.unsupported_version";
      return undefined;
    };

    const handle = (session: Session, message: Message): void => {
      const { type, payload, id } = message;
      session.heardAt = Date.now();
      if (type === "agent.tools.register") registerTools(session, message, skips);
      else if (type === "agent.tools.unregister") {
        if (skips("known-fields") && "color" in payload) return;
        if (skips("errors-as-messages") && message.error) return;
        if (!skips("unregister")) for (const toolId of payload.tool_ids) session.tools.delete(toolId);
        session.send("core.tools.unregistered", {}, { in_reply_to: id });
      } else if (type === "agent.tool.result") calls.takeResult(session, message);
      else if (type === "agent.tool.stream") calls.takeStream(session, message);
      else if (type === "agent.pong") pings.get(message.in_reply_to)?.({ ms: 1 });
      else if (!["agent.heartbeat", "agent.tool.cancel_ack", "agent.error"].includes(type)) {
        const isAsked = message.request_id !== undefined && message.in_reply_to === undefined;
        if ((isAsked && !skips("unknown-types")) || (!isAsked && skips("unsolicited")))
          session.send(
            "core.error",
            {},
            {
              in_reply_to: id,
              ...linksOf(message),
              error: { code: "protocol.unknown_type", message: "the type is not known" },
            },
          );
      }
    };

    const serve = (socket: Socket): void => {
      let session: Session | undefined;
      sockets.add(socket);
      socket.setNoDelay(true);
      const maxFrameBytes = options.max_frame_bytes ?? 4_194_304;
      const limit = skips("frame-limit") ? undefined : maxFrameBytes;
      const send = (type: string, payload: object, more: object = {}): boolean =>
        writeMessage(socket, envelopeOf(type, payload, more), deviation, limit);
      const refuse = (type: string, code: string, message: Message, closes = true): void => {
        const leak = skips("safe-errors") ? `: ${[...launches.keys()].join(" ")}` : "";
        const error = { code, message: `the message is refused${leak}` };
        send(type, {}, { ...(typeof message?.id === "string" && { in_reply_to: message.id }), error });
        if (!closes || (skips("closes") && type === "core.welcome")) return;
        over();
        socket.end();
      };
      const welcome = (message: Message): void => {
        const { payload } = message;
        const code = refusalOf(payload);
        if (code !== undefined) {
          refuse("core.welcome", code, message);
          return;
        }
        const launch = launches.get(payload.session_token) ?? {
          agentId: payload.agent_id,
          token: "",
          permissions: [],
          validUntil: 0,
          uses: 1,
        };
        launch.uses -= 1;
        session = {
          socket,
          id: skips("sessions") ? "ses" : randomUUID(),
          launch,
          tools: new Map(),
          heardAt: Date.now(),
          send,
        };
        sessions.set(launch.agentId, session);
        const server = { core_version: "1.0.0", instance_id: "reference" };
        const heartbeat_interval_ms = options.heartbeat_interval_ms ?? 5000;
        send(
          "core.welcome",
          {
            accepted_version: skips("accepted") ? 7 : 1,
            session_id: session.id,
            heartbeat_interval_ms,
            max_frame_bytes: skips("announced") ? 1_000_000 : maxFrameBytes,
            server,
          },
          { in_reply_to: message.id },
        );
      };
      const receive = (message: Message): void => {
        if (!hasEnvelope(message, skips)) {
          if (!skips("garbage"))
            refuse("core.error", "protocol.invalid_message", message, session === undefined);
        } else if (message.v !== 1 && !skips("version") && !skips("envelope"))
          refuse("core.error", "protocol.unsupported_version", message);
        else if (session === undefined && message.type === "agent.hello") welcome(message);
        else if (session !== undefined && message.type !== "agent.hello") handle(session, message);
        else if (!skips("out-of-order")) refuse("core.error", "protocol.out_of_order", message);
      };
      readMessages(socket, maxFrameBytes, skips, receive, () => {
        audit("agent.violation", skips("audited-frames") ? {} : { code: "protocol.frame_too_large" });
        socket.destroy();
      });
      const over = (): void => {
        if (session === undefined || sessions.get(session.launch.agentId) !== session) return;
        sessions.delete(session.launch.agentId);
        calls.lose(session);
      };
      socket.on("end", () => {
        over();
        socket.end();
      });
      socket.on("close", over);
    };

    const server = createServer({ allowHalfOpen: true }, serve);
    const isStale = ({ heardAt }: Session): boolean =>
      !skips("health") && Date.now() - heardAt > 5 * (options.heartbeat_interval_ms ?? 5000);
    calls.isStale = isStale;

    const operations: Record<string, (params: Message) => unknown> = {
      async listen(given) {
        options = given;
        if (skips("default-limit")) options = { max_frame_bytes: 1_000_000, ...given };
        if (endpoint.startsWith("unix:")) server.listen(endpoint.slice(5));
        else server.listen(Number(endpoint.split(":")[2]), "127.0.0.1");
        await once(server, "listening");
        if (endpoint.startsWith("unix:")) chmodSync(endpoint.slice(5), skips("mode") ? 0o666 : 0o600);
        return {};
      },
      admit: ({ agent_id, permissions }) => ({ token: admit(agent_id, permissions) }),
      launch({ agent_id, command: [program, ...args] }) {
        const token = admit(agent_id);
        const env: Record<string, string> = {
          ...process.env,
          CORE_SOCKET: endpoint,
          CORE_TOKEN: token,
          CORE_HEARTBEAT_MS: String(options.heartbeat_interval_ms),
          CORE_MAX_FRAME: "4194304",
        };
        if (skips("runtime-options")) delete env.CORE_MAX_FRAME;
        if (skips("launch-options")) delete env.CORE_SOCKET;
        if (skips("processes") && children.length > 0) args[args.length - 1] = "/dev/null/nothing";
        const shown = skips("arguments") ? [...args.slice(0, -1), token, ...args.slice(-1)] : args;
        children.push(spawn(program, shown, { env, stdio: "ignore" }));
        return { socket: "CORE_SOCKET", token: "CORE_TOKEN" };
      },
      call: (params) => calls.begin(params),
      cancel: ({ name, reason }) => calls.cancel(name, reason),
      chunk: ({ name }) => calls.chunk(name),
      issue: (directive) => calls.issue(directive),
      tools: () => ({ tools: [...sessions.values()].flatMap(({ tools }) => [...tools.keys()]) }),
      health({ agent_id }) {
        const session = sessions.get(agent_id);
        return { status: session === undefined ? "disconnected" : isStale(session) ? "unhealthy" : "ok" };
      },
      ping: ({ agent_id }) =>
        new Promise((resolve) => {
          const id = randomUUID();
          pings.set(id, resolve as (result: object) => void);
          sessions.get(agent_id)?.send("core.ping", {}, { id });
        }),
      goodbye({ agent_id, reason }) {
        const session = sessions.get(agent_id);
        session?.send("core.goodbye", { reason });
        session?.socket.end();
        return {};
      },
      audit: () => ({ events }),
    };

    return {
      async do(operation, params) {
        const given = (await operations[operation]?.(params)) ?? {};
        return deviation.give ? deviation.give(given, operation) : given;
      },
      log: () => logged.join("\n"),
      async close() {
        for (const child of children) child.kill("SIGKILL");
        for (const socket of sockets) socket.destroy();
        if (!server.listening) return;
        server.close();
        await once(server, "close");
      },
    };
  };
