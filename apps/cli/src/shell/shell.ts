import type { HubPlace } from "@harnesskit/hub/place";
import { toAttachmentRef } from "@harnesskit/shell-client";
import { createHttpExchange } from "@harnesskit/transport-http/node";
import { randomId, shellWord } from "@harnesskit/wire";
import { readClientToken } from "../ahp/token.ts";
import { type ExitCode, reading, unavailableError, usageError } from "../cli-error.ts";
import { findRunningEngine, type RunningEngine } from "../engine/engine-notice.ts";
import { findHub } from "../hub/find-hub.ts";
import { noteInterruption } from "../interruption.ts";
import { io } from "../io.ts";
import { Session } from "../session/session.ts";
import { LineConversation } from "../terminal/line-conversation.ts";
import { canSpin } from "../terminal/spinner.ts";
import { stateDirectory } from "../workspace-directory.ts";
import { ShellApprover } from "./approvals.ts";
import { ShellConversation } from "./shell-conversation.ts";
import { type KeptConversation, ShellState } from "./shell-state.ts";
import { StreamPreview } from "./stream-preview.ts";

const tokenVariable = "HARNESS_ENGINE_TOKEN";

const isLocalHost = (hostname: string): boolean =>
  hostname === "localhost" || hostname === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(hostname);

/** The whole URL of an engine: one without a path is at `/openharness`. Throws a usage error for anything else. */
const engineUrlOf = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  if (url === undefined || !isHttp || url.username !== "" || url.password !== "" || url.hash !== "") {
    const hint = "For example: --engine http://127.0.0.1:8787/openharness";
    throw usageError(`--engine: ${text} is not the URL of an engine`, hint);
  }
  if (url.pathname === "/") url.pathname = "/openharness";
  return url;
};

/** Opens the way to an engine; nothing is sent yet. Throws a usage error for a URL or a token that cannot be used. */
const openEngine = async (engine: string, tokenFile: string | undefined, timeoutMs: number) => {
  const url = engineUrlOf(engine);
  const token = await readClientToken(tokenFile, { variable: tokenVariable });
  if (token !== undefined && url.protocol === "http:" && !isLocalHost(url.hostname)) {
    throw usageError("--engine: a token would be sent to another machine in the clear", "Use https");
  }
  const credentials = token === undefined ? undefined : { bearer: token };
  const exchange = reading("--engine", () => createHttpExchange({ url: url.href, timeoutMs, credentials }));
  return { url: url.href, exchange };
};

export interface ShellOptions {
  readonly engine?: string;
  readonly tokenFile?: string;
  readonly session?: string;
  readonly new?: true;
  readonly approve?: "ask" | "once" | "reject";
  /** References of what goes with the first message. @default none */
  readonly attach?: readonly string[];
  readonly timeout: number;
}

const maxTimeoutSeconds = 86_400;

const sessionIdOf = async ({ session, new: isNew }: ShellOptions, state: ShellState): Promise<string> => {
  if (session !== undefined) return session;
  return (isNew ? undefined : await state.lastSessionId()) ?? randomId("sess");
};

const engineOf = async ({ engine, tokenFile }: ShellOptions): Promise<RunningEngine> => {
  const running = await findRunningEngine();
  if (engine !== undefined) {
    const own = running?.url === engineUrlOf(engine).href ? running : undefined;
    return { ...own, url: engine, tokenFile };
  }
  if (running) return { ...running, tokenFile: tokenFile ?? running.tokenFile };
  throw unavailableError("engine_unavailable", "No engine runs here", {
    hint: [
      { to: "Start one in another terminal", run: "harness engine" },
      { to: "Or name one", run: "harness shell --engine URL" },
    ],
  });
};

/** The hub that judges what an engine of this user does: its questions are shown here while they wait. */
const hubOf = async (running: RunningEngine): Promise<HubPlace | undefined> =>
  running.hub === undefined ? undefined : findHub(running.hub).catch(() => undefined);

/** The engine that runs here is found again, wherever it listens by then. */
const resumeCommand = (sessionId: string, { engine, tokenFile }: ShellOptions): string => {
  const at = engine === undefined ? "" : ` --engine ${shellWord(engine)}`;
  const token = tokenFile === undefined ? "" : ` --token-file ${shellWord(tokenFile)}`;
  return `harness shell${at}${token} --session ${shellWord(sessionId)}`;
};

/** `harness shell`: says something to an engine, or a conversation with it, at the terminal or with the lines of standard input. */
export const shell = async (
  intent: string | undefined,
  options: ShellOptions,
  { version }: { readonly version: string },
): Promise<ExitCode> => {
  if (intent !== undefined && intent.trim() === "") {
    throw usageError("There is nothing to say", {
      to: "For example",
      run: 'harness shell --engine URL "hello"',
    });
  }
  const { timeout, attach = [] } = options;
  if (attach.some((reference) => reference.trim() === "")) {
    throw usageError("--attach: a reference must not be empty", "For example: --attach img/a.png");
  }
  if (timeout < 1 || timeout > maxTimeoutSeconds) {
    throw usageError(`--timeout: a number from 1 to ${maxTimeoutSeconds}`);
  }
  const timeoutMs = timeout * 1000;
  const running = await engineOf(options);
  const { url: engine, tokenFile } = running;
  let preview: StreamPreview | undefined;
  const session = await Session.open({
    ...{ command: "harness shell" as const, version, approve: options.approve },
    withoutTerminal: "no-terminal",
    // A program that reads the output gets answers alone.
    beforeWrite: (terminal) => {
      if (canSpin(io().stdout)) preview = new StreamPreview(terminal, () => io().stdout.rows || 24);
      return () => preview?.clear();
    },
  });
  if (options.approve === "ask" && session.mode !== "ask") {
    throw usageError("--approve ask needs a terminal", "Without one: --approve once, or --approve reject");
  }
  const { view, note } = session;
  const { url, exchange } = await openEngine(engine, tokenFile, timeoutMs);
  const state = new ShellState(stateDirectory("shell"), running.conversations ?? url);
  const sessionId = await sessionIdOf(options, state);
  const kept: KeptConversation = (await state.load(sessionId)) ?? { session: { sessionId }, pending: [] };
  const again = resumeCommand(sessionId, options);
  // A conversation goes on without the answer.
  const onInterrupt = () => {
    if (intent !== undefined) noteInterruption();
  };
  const conversation = new ShellConversation({
    ...{ engine: exchange, timeoutMs, session, kept, state, preview },
    approver: new ShellApprover(session, onInterrupt),
    attachments: attach.map(toAttachmentRef),
  });
  const lines = new LineConversation(session, conversation, intent !== undefined);
  try {
    await session.followHub(await hubOf(running), sessionId, session.cancel);
    if (intent === undefined) {
      view.note(`session ${sessionId}, engine ${url}; /help lists the commands`);
    }
    await conversation.followUp();
    if (intent === undefined) await lines.follow(() => session.answered());
    else await conversation.say(intent);
    const count = conversation.pending.length;
    if (count > 0) {
      const what = count === 1 ? "1 question waits" : `${count} questions wait`;
      note(`${what} for your approval: ${again}`);
    } else if (intent === undefined) view.note(`to continue: ${again}`);
    return conversation.exitCode;
  } finally {
    lines.close();
    await session.close();
    await conversation.close();
    exchange.close();
  }
};
