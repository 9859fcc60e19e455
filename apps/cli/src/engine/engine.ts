import { type ApprovalRequest, createChatHarness } from "@harnesskit/chat-harness";
import { createChatGraph, toChatTools } from "@harnesskit/chat-harness/ai-sdk";
import { type AttachmentRef, ShellCapability } from "@harnesskit/protocol/openharness";
import { type ShellEngine, type ShellLogLine, shellHeaders } from "@harnesskit/shell-engine";
import { type ApprovalLook, createChatShellEngine, streamTurn } from "@harnesskit/shell-engine-chat";
import { allowAnyone } from "@harnesskit/transport-http";
import { createHttpServer, type HttpServer, type HttpServerOptions } from "@harnesskit/transport-http/node";
import { AttachmentError, createDeferred, digest } from "@harnesskit/wire";
import { workspaceTools } from "@harnesskit/workspace-agent/declarations";
import { type AgentsOptions, openAgentCore } from "../agents/agent-core.ts";
import { createLiveLog } from "../ahp/live-log.ts";
import { readServerAccess, readServerToken } from "../ahp/token.ts";
import { leaseTtlMs, openModel, operatorReplies, toolTimeoutMs } from "../chat/chat-parts.ts";
import { describeFailure, ExitCode, reading } from "../cli-error.ts";
import { toHttpFailure } from "../endpoint.ts";
import { type HubOptions, hubToolTimeoutMs, openHubJudge } from "../hub/hub-judge.ts";
import { browserText, openBrowser } from "../hub/open-page.ts";
import { riskOfCall } from "../hub/risk.ts";
import { onStopSignals } from "../interruption.ts";
import { fromHere, io } from "../io.ts";
import { readWorkspaceFile } from "../serve/agent-loop.ts";
import { contextOf } from "../serve/models.ts";
import { conversationsIn, describeLocation } from "../store/location.ts";
import { openConversations } from "../store/open.ts";
import { createStyle } from "../terminal/style.ts";
import { formatDuration, oneLine } from "../terminal/text.ts";
import { blockedLines, useInHub } from "../timeline/judgements.ts";
import { withCleanup } from "../with-cleanup.ts";
import { workspaceDirectory } from "../workspace-directory.ts";
import { leaveEngineNotice } from "./engine-notice.ts";
import { openEnginePage } from "./engine-page.ts";

const effects = new Map(workspaceTools.map((tool) => [tool.name, tool.effects] as const));

/** How a shell asks for a call of a workspace tool: with its directory, and with the risk that `harness run` shows. */
const describeCall =
  (directory: string) =>
  ({ tool, input, problem, preview }: ApprovalRequest): ApprovalLook => {
    const { level, reasons } = riskOfCall(tool, input, directory);
    const why = reasons.length === 0 ? "" : ` What it does: ${reasons.join("; ")}.`;
    const isExecuting = effects.get(tool) !== "write";
    const again = problem === undefined ? "" : `It is asked again: ${problem}. `;
    const what = isExecuting ? "may do whatever you may do" : "changes files";
    // Of another agent's tool the preview says whose it is.
    const about = effects.has(tool) || preview === undefined ? "" : `${preview}\n\n`;
    return {
      message: `${about}${again}It works in ${directory}, and ${what}.${why}`,
      riskTier: level === "low" || level === "medium" ? "caution" : "dangerous",
    };
  };

/**
 * The file of the workspace that a reference stands for: its `ref_id` is a path in it, its `uri` the address of a file. Throws an
 * `AttachmentError` for a reference with neither.
 */
const fileOf = ({ ref_id, uri }: AttachmentRef): string => {
  const file = ref_id || uri;
  if (file) return file;
  throw new AttachmentError(
    "attachment_not_found",
    "is not a file of the workspace: ref_id must be its path",
  );
};

const part = (name: string, value: string | undefined): string[] =>
  value === undefined ? [] : [`${name} ${oneLine(value, 80)}`];

/** A line of the engine's log as people read it: safe text, of ids and outcomes alone. */
const requestLine = (line: ShellLogLine): string => {
  const { event, outcome, error_code: code, duration_ms: durationMs, action_types: types = [] } = line;
  if (event !== "request") return oneLine(event, 80);
  const counts = new Map<string, number>();
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
  const sent = [...counts].slice(0, 5).map(([type, count]) => `${count} ${oneLine(type, 60)}`);
  const what = outcome === "error" ? `error ${oneLine(code ?? "", 80)}` : sent.join(", ") || "nothing to do";
  const again = line.is_replay ? " (again)" : "";
  const took = durationMs === undefined ? "" : ` in ${formatDuration(durationMs)}`;
  const where = [
    ...part("session", line.session_id),
    ...part("thread", line.conversation_id),
    ...part("request", line.request_id),
    ...part("shell", line.shell_kind),
  ];
  return [`${what}${again}${took}`, ...where].join("; ");
};

export interface EngineOptions extends HubOptions, AgentsOptions {
  readonly cwd: string;
  readonly model: string;
  readonly port?: number;
  readonly tokenFile?: string;
  readonly auth: boolean;
  readonly allowOrigin?: readonly string[];
  readonly store?: string;
  readonly quiet?: true;
  /** Serves a page that is a shell of this engine, and opens it in the browser. */
  readonly open?: true;
}

const name = "harness engine";
const path = "/openharness";
const continuationMs = 24 * 60 * 60_000;
const maxSessionIdLength = 512;
const closeTimeoutMs = 4_000;

const system =
  "You talk with a user in a shell, such as a terminal or a page. Your tools work in the user's directory. What writes or executes " +
  "is shown to the user first and runs only when it is approved; a call that was rejected was not run.";

type Access = Pick<HttpServerOptions<unknown>, "token" | "tokenFile" | "authenticate">;

const accessOf = async ({ auth, tokenFile }: EngineOptions): Promise<Access> =>
  auth ? readServerAccess(tokenFile) : { authenticate: allowAnyone };

const createServer = (
  engine: ShellEngine,
  { port = 0, allowOrigin = [] }: EngineOptions,
  access: Access,
  onError: (error: unknown) => void,
): HttpServer<unknown> => {
  const options = { port, allowedOrigins: allowOrigin, contextHeaders: shellHeaders, onError };
  return reading(
    "--allow-origin",
    () => createHttpServer<unknown>({ ...options, ...access, routes: { [path]: engine } }),
    "For example: http://localhost:5173",
  );
};

/** `harness engine`: conversations with tools and approvals for shells on this machine. Ends with a signal. */
export const engine = (
  options: EngineOptions,
  { version }: { readonly version: string },
): Promise<ExitCode> =>
  withCleanup(async (defer) => {
    const workspace = await workspaceDirectory(options.cwd);
    const access = await accessOf(options);
    const model = await openModel(options.model);
    const location = conversationsIn(options, workspace);
    const log = createLiveLog(io().stderr, name);
    const tell = (what: string, cause: unknown) => log.say(describeFailure(what, cause).split("\n"));
    const stopped = createDeferred<void>();
    defer(onStopSignals(() => stopped.resolve()));
    const { agents, installedAgents, passEnv, hub } = options;
    const note = (line: string) => log.say(line);
    const judge = await openHubJudge({
      ...{ command: "engine", hub, workspace, version, note },
      onAnswered: note,
      onBlocked: (call) => blockedLines(call, createStyle(false), useInHub).forEach(note),
    });
    defer(() => judge?.close());
    const longestMs = judge === undefined ? toolTimeoutMs : hubToolTimeoutMs;
    const core = await openAgentCore({
      command: "engine",
      version,
      models: [options.model],
      agents,
      installedAgents,
      passEnv,
    });
    defer(() => core.close());
    const { graph: store, continuations, close } = await openConversations(location, name);
    defer(close);
    const harness = createChatHarness({
      graph: createChatGraph({
        model,
        system,
        tools: async (listing) => {
          const tools = await core.tools(listing);
          return toChatTools(judge?.judged(tools) ?? tools, { directory: workspace });
        },
        toolTimeoutMs: longestMs,
        onEvent(event) {
          if (event.type === "model_failed") note(`the model failed: ${event.reason}`);
          return streamTurn(event);
        },
        notes: ({ sessionId: id }) =>
          core.endedCommands({ conversation: id ?? undefined, directory: workspace }),
        ...contextOf(io().env),
      }),
      store,
      session: { leaseTtlMs },
      replies: operatorReplies,
      onError: (cause, { message }) => tell(message, cause),
    });
    defer(() => harness.close({ timeoutMs: closeTimeoutMs }).catch((error) => tell("a turn", error)));
    const served = createChatShellEngine({
      harness: judge?.conversations(harness) ?? harness,
      continuations,
      continuationKey: continuations.key,
      // Each client with the token acts for this user, and shares the conversations of `harness chat`.
      sessionIdOf: ({ conversation: { sessionId, conversationId, key } }) => {
        const isNamed = conversationId === undefined && sessionId !== "";
        if (isNamed || key.length <= maxSessionIdLength) return isNamed ? sessionId : key;
        return digest(key);
      },
      attachments: {
        read: (reference, scope) => readWorkspaceFile(fileOf(reference), { ...scope, directory: workspace }),
      },
      describeApproval: describeCall(workspace),
      capabilities: { [ShellCapability.Streaming]: true },
      limits: { continuationMs, handlerTimeoutMs: longestMs },
      log: !options.quiet ? (line) => log.tell(requestLine(line)) : undefined,
      onError: (error) => tell("a request failed", error),
    });
    const page = options.open ? await openEnginePage((error) => tell("the page", error)) : undefined;
    defer(() => page?.close());
    const allowOrigin = [...(options.allowOrigin ?? []), ...(page === undefined ? [] : [page.origin])];
    const server = createServer(served, { ...options, allowOrigin }, access, (error) =>
      tell("a request", error),
    );
    defer(() => server.close());
    // Shells hear how their requests end before the connections do.
    defer(() => served.close());
    await server.listen().catch((error: unknown) => {
      throw toHttpFailure(error, "--port");
    });
    const url = `${server.url}${path}`;
    const named = options.tokenFile === undefined ? undefined : fromHere(options.tokenFile);
    const tokenFile = server.tokenFile ?? named;
    log.say(
      tokenFile === undefined
        ? "NO TOKEN is asked for (--no-auth): any local program can connect"
        : `token in ${tokenFile}`,
    );
    const conversations = describeLocation(location);
    await leaveEngineNotice({ url, tokenFile, hub: judge?.place?.directory, conversations }).then(
      defer,
      (error: unknown) => tell("shells must be given the URL", error),
    );
    log.say(`listening on ${url}; model ${options.model}`);
    if (page !== undefined) {
      const link = page.link({
        url,
        token: tokenFile === undefined ? undefined : await readServerToken(tokenFile),
      });
      log.say(`page: ${link} (valid once, for ten minutes)`);
      if (await openBrowser(link)) log.say(browserText);
    }
    void harness.recover().catch((error) => tell("what earlier processes have left", error));
    await stopped.promise;
    log.say(`ended; conversations are kept in ${conversations}, for harness chat too`);
    return ExitCode.done;
  });
