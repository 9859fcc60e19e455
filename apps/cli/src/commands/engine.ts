import { resolve } from "node:path";
import { createChatHarness } from "@harnesskit/chat-harness";
import { createChatGraph } from "@harnesskit/chat-harness/ai-sdk";
import { type ShellEngine, shellHeaders } from "@harnesskit/shell-engine";
import { createChatShellEngine } from "@harnesskit/shell-engine-chat";
import type { SqliteContinuationStore } from "@harnesskit/store-sqlite";
import { allowAnyone } from "@harnesskit/transport-http";
import { createHttpServer, type HttpServer, type HttpServerOptions } from "@harnesskit/transport-http/node";
import { createDeferred, digest, HarnessError } from "@harnesskit/wire";
import type { LanguageModel } from "ai";
import { createLiveLog, type LiveLog } from "../ahp/live-log.ts";
import { toHttpFailure } from "../ahp/open-places.ts";
import { readServerToken } from "../ahp/token.ts";
import {
  type ChatStore,
  leaseTtlMs,
  openContinuations,
  openModel,
  openStore,
  storeFileOf,
  toolTimeoutMs,
} from "../chat/chat-parts.ts";
import { createWorkspaceTools } from "../chat/workspace-tools.ts";
import { usageError } from "../cli-error.ts";
import { describeFailure } from "../debug.ts";
import { describeCall } from "../engine/engine-approvals.ts";
import { leaveEngineNotice } from "../engine/engine-notice.ts";
import { fileOf } from "../engine/file-of.ts";
import { requestLine } from "../engine/request-line.ts";
import { ExitCode } from "../exit-code.ts";
import { readWorkspaceFile } from "../serve/read-workspace-file.ts";
import { onStopSignals } from "../serve/stop-signals.ts";
import { oneLine } from "../terminal/one-line.ts";
import { workspaceDirectory } from "../workspace-directory.ts";

export interface EngineOptions {
  readonly cwd: string;
  readonly model: string;
  readonly port?: number;
  readonly tokenFile?: string;
  /** False: no token. */
  readonly auth: boolean;
  readonly allowOrigin?: readonly string[];
  readonly store?: string;
  readonly quiet?: true;
}

const name = "harness engine";
const path = "/openharness";
/** How long a question may wait for its answer; then it is asked anew. */
const continuationMs = 24 * 60 * 60_000;
/** Beyond, a thread's name is its digest: the harness takes names of 1,024 characters. */
const maxSessionIdLength = 512;
/** How long turns may take to end once the engine is to end. */
const closeTimeoutMs = 4_000;

const system =
  "You talk with a user in a shell, such as a terminal or a page. Your tools work in the user's directory. What writes or executes " +
  "is shown to the user first and runs only when it is approved; a call that was rejected was not run.";

/** How shells show who they are. */
type Access = Pick<HttpServerOptions<unknown>, "token" | "tokenFile" | "authenticate">;

const accessOf = async ({ auth, tokenFile }: EngineOptions): Promise<Access> => {
  if (!auth) return { authenticate: allowAnyone };
  if (tokenFile === undefined) return {};
  const token = await readServerToken(tokenFile);
  return token === undefined ? { tokenFile } : { token };
};

const createServer = (
  engine: ShellEngine,
  { port = 0, allowOrigin = [] }: EngineOptions,
  access: Access,
  onError: (error: unknown) => void,
): HttpServer<unknown> => {
  const options = { port, allowedOrigins: allowOrigin, contextHeaders: shellHeaders, onError };
  try {
    return createHttpServer<unknown>({ ...options, ...access, routes: { [path]: engine } });
  } catch (error) {
    if (!HarnessError.isInstance(error) || error.code !== "invalid_argument") throw error;
    throw usageError(`--allow-origin: ${oneLine(error.message, 500)}`, "For example: http://localhost:5173");
  }
};

/** `harness engine`: conversations with tools and approvals for shells on this machine. Ends with a signal. */
export const engine = async (options: EngineOptions): Promise<ExitCode> => {
  const workspace = await workspaceDirectory(options.cwd);
  const access = await accessOf(options);
  const model = await openModel(options.model);
  const file = storeFileOf(options, workspace);
  const log = createLiveLog(process.stderr, name);
  const stopped = createDeferred<void>();
  const forget = onStopSignals(() => stopped.resolve());
  const store = await openStore(file);
  try {
    const continuations = await openContinuations(file);
    try {
      const conversations = { workspace, model, store, continuations };
      return await serveConversations(conversations, options, { access, log, stopped: stopped.promise });
    } finally {
      await continuations.close();
    }
  } finally {
    await store.close();
    forget();
  }
};

interface Conversations {
  readonly workspace: string;
  readonly model: LanguageModel;
  readonly store: ChatStore;
  readonly continuations: SqliteContinuationStore;
}

interface Place {
  readonly access: Access;
  readonly log: LiveLog;
  /** Settles with the first signal. */
  readonly stopped: Promise<void>;
}

const serveConversations = async (
  { workspace, model, store, continuations }: Conversations,
  options: EngineOptions,
  place: Place,
): Promise<ExitCode> => {
  const { log } = place;
  const tell = (what: string, cause: unknown) => log.say(describeFailure(what, cause));
  const tools = createWorkspaceTools(workspace);
  const harness = createChatHarness({
    graph: createChatGraph({ model, system, tools, toolTimeoutMs }),
    store,
    session: { leaseTtlMs },
    onWarning: ({ message, cause }) => tell(message, cause),
  });
  const served = createChatShellEngine({
    harness,
    continuations,
    continuationKey: continuations.key,
    // Everybody who has the token is this user, and meets the conversations of `harness chat`.
    sessionIdOf: ({ conversation: { sessionId, conversationId, key } }) => {
      const isNamed = conversationId === undefined && sessionId !== "";
      if (isNamed || key.length <= maxSessionIdLength) return isNamed ? sessionId : key;
      return digest(key);
    },
    attachments: {
      read: (reference, scope) => readWorkspaceFile(fileOf(reference), { ...scope, directory: workspace }),
    },
    describeApproval: describeCall(workspace),
    limits: { continuationMs, handlerTimeoutMs: toolTimeoutMs },
    ...(!options.quiet && { log: (line) => log.tell(requestLine(line)) }),
    onError: (error) => tell("a request failed", error),
  });
  const recover = () =>
    harness.recover().catch((error: unknown) => tell("what earlier processes have left", error));
  try {
    return await serve(served, options, place, recover);
  } finally {
    await served.close();
    await harness.close({ timeoutMs: closeTimeoutMs }).catch((error: unknown) => tell("a turn", error));
  }
};

const serve = async (
  served: ShellEngine,
  options: EngineOptions,
  { access, log, stopped }: Place,
  recover: () => Promise<unknown>,
): Promise<ExitCode> => {
  const tell = (what: string, cause: unknown) => log.say(describeFailure(what, cause));
  const server = createServer(served, options, access, (error) => tell("a request", error));
  try {
    await server.listen().catch((error: unknown) => {
      throw toHttpFailure(error, "--port");
    });
    const url = `${server.url}${path}`;
    const named = options.tokenFile === undefined ? undefined : resolve(options.tokenFile);
    const tokenFile = server.tokenFile ?? named ?? null;
    log.say(
      tokenFile === null
        ? "NO TOKEN is asked for (--no-auth): every program on this machine may come"
        : `token in ${oneLine(tokenFile, 1000)}`,
    );
    const takeBack = await leaveEngineNotice({ url, tokenFile, pid: process.pid }).catch((error: unknown) => {
      tell("shells have to be told the URL", error);
      return undefined;
    });
    log.say(`listening on ${url}; model ${oneLine(options.model, 200)}`);
    void recover();
    await stopped;
    await takeBack?.();
    return ExitCode.done;
  } finally {
    // Shells hear how their requests end before the connections do.
    await served.close();
    await server.close();
  }
};
