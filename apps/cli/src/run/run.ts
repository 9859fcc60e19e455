import { existsSync } from "node:fs";
import { join } from "node:path";
import type { HubPlace } from "@harnesskit/hub/place";
import type { AgentsOptions } from "../agents/agent-core.ts";
import { type ExitCode, unavailableError, usageError } from "../cli-error.ts";
import { socketPathOf } from "../endpoint.ts";
import { endWithStderr, Interrupts, interruptedExitCode } from "../interruption.ts";
import { fromHere, io } from "../io.ts";
import { keptWorkspace } from "../kept-workspace.ts";
import { mentionedFiles, missingMention } from "../mentioned-files.ts";
import { checkedModel } from "../serve/models.ts";
import {
  noPolicyText,
  type PolicyChoice,
  type PolicyOptions,
  toPolicyChoice,
} from "../supervision/policy-choice.ts";
import { note } from "../terminal/terminal.ts";
import { oneLine } from "../terminal/text.ts";
import { type LastTurn, lastTurnOf } from "../threads/last-turn.ts";
import { storedThreadsIn } from "../threads/stored-threads.ts";
import { chosenThread } from "../threads/thread-ids.ts";
import { harnessDirectory, workspaceDirectory } from "../workspace-directory.ts";
import { askPrompt, canAskPrompt, checkCommand, promptOf } from "./run-input.ts";
import { RunServer } from "./run-server.ts";

export interface RunOptions extends PolicyOptions, AgentsOptions {
  readonly cwd: string;
  readonly model?: string;
  readonly agent?: string;
  readonly approve?: "ask" | "once" | "reject";
  readonly thread?: string;
  /** Go on with `thread`, or with the thread used last, and with a turn of it that was interrupted. @default such a turn ends as interrupted */
  readonly continue?: true;
  /** Choose the thread at the terminal. */
  readonly resume?: true;
  /** Files that the model is given, by paths from the current directory. @default none */
  readonly file?: readonly string[];
  /** The endpoint of a server that runs. @default one is started */
  readonly attach?: string;
  /** How long the server of `attach` is tried again, in seconds. @default 60 where it was there */
  readonly retryFor?: number;
  /** While a turn runs in the thread: wait in its queue. Needs `attach` and `thread`. */
  readonly queue?: true;
  /** While a turn runs in the thread: cancel it. Needs `attach` and `thread`. */
  readonly interrupt?: true;
  readonly json?: true;
}

/** How long the second Ctrl-C waits for the server of this process. */
const quitMs = 500;

const noFile = (path: string) =>
  usageError(`${oneLine(path)} does not exist`, "Name a file of the workspace: --file PATH");

const hubOf = async (choice: PolicyChoice): Promise<HubPlace | undefined> => {
  if (choice.kind !== "hub") return undefined;
  return (await import("../hub/find-hub.ts")).chosenHub(choice.state);
};

/** Throws a usage error for `--queue` and `--interrupt` where no turn of others can run. */
const checkWhenBusy = (
  prompt: string | undefined,
  { queue, interrupt, attach, thread }: RunOptions,
): void => {
  if (queue === undefined && interrupt === undefined) return;
  const option = queue ? "--queue" : "--interrupt";
  const hint = { to: "For example", run: `harness run --attach unix:PATH --thread ID ${option} "PROMPT"` };
  if (prompt === undefined) throw usageError(`${option} needs a prompt`, hint);
  if (attach === undefined || thread === undefined)
    throw usageError(`${option} needs --attach and --thread`, hint);
};

/**
 * What the last turn of the thread means for a prompt, before a server opens the thread and ends what was interrupted. Throws a `CliError`
 * `turn_interrupted` for one that the user did not say anything about: it stays as it is.
 */
const checkLastTurn = (
  last: LastTurn | undefined,
  prompt: string | undefined,
  { thread = "", continue: goesOn }: RunOptions,
): void => {
  if (last?.state !== "interrupted" || goesOn) return;
  const command = `harness run --thread ${oneLine(thread, 80)}`;
  if (prompt === undefined) {
    throw unavailableError(
      "turn_interrupted",
      "The last turn of this thread was interrupted: its server ended",
      {
        hint: [
          { to: "To go on with it", run: `${command} --continue` },
          { to: "To end it and begin another", run: `${command} "PROMPT"` },
        ],
      },
    );
  }
  note(`harness run: the last turn was interrupted and ends here; --continue would have gone on with it`);
};

/** Says to a terminal's user which thread goes on. */
const sayTitle = async (
  { thread, continue: goesOn, resume, attach, json }: RunOptions,
  workspace: string,
): Promise<void> => {
  if (thread === undefined || !(goesOn || resume) || attach !== undefined || json || !io().stderr.isTTY)
    return;
  // The server says why a thread cannot be read.
  const found = await storedThreadsIn(workspace)
    .store.get(thread)
    .catch(() => undefined);
  if (found !== undefined) note(`harness run: going on with “${oneLine(found.title, 100)}”`);
};

/** What the user says at the terminal where nothing goes on without it; undefined where something does, or no user is there. */
const neededPrompt = async (
  last: LastTurn | undefined,
  { thread, attach, file, json }: RunOptions,
  workspace: string,
): Promise<string | undefined> => {
  if (json || !canAskPrompt() || (attach !== undefined && thread !== undefined)) return undefined;
  const isOpen = last !== undefined && last.state !== "ended";
  return isOpen && file === undefined ? undefined : askPrompt(workspace);
};

/**
 * `harness run`: one turn, shown as it happens; the prompt is `argument`, or standard input (see `promptOf`). Where the
 * thread's last turn has not ended, that one first. Without a prompt only that one.
 */
export const run = async (
  argument: string | undefined,
  given: RunOptions,
  { version }: { readonly version: string },
): Promise<ExitCode> => {
  const { attach } = given;
  if (given.model !== undefined) checkedModel(given.model);
  if (attach !== undefined) socketPathOf(attach, "--attach");
  const choice = toPolicyChoice(given);
  const isKept = attach === undefined && (given.thread ?? given.continue ?? given.resume) !== undefined;
  const workspace = await (isKept ? keptWorkspace : workspaceDirectory)(given.cwd);
  if (choice.kind === "file" && choice.file !== undefined) {
    // Only then is the code that reads policies needed in this process.
    const [{ openPolicy }, { policyWarnings }] = await Promise.all([
      import("../ahp/policy-file.ts"),
      import("../ahp/event-text.ts"),
    ]);
    for (const line of policyWarnings(await openPolicy(choice.file, workspace))) note(`harness run: ${line}`);
  }
  // A server that runs says itself which thread is meant.
  const threadId = attach === undefined ? await chosenThread(given, workspace) : given.thread;
  const options = threadId === undefined ? given : { ...given, thread: threadId };
  await sayTitle(options, workspace);
  const lastTurn =
    threadId === undefined || attach !== undefined
      ? undefined
      : // The server says why a thread cannot be read.
        await lastTurnOf(harnessDirectory(workspace), threadId).catch(() => undefined);
  const argued = await promptOf(argument, options, io().stdin);
  const prompt = argued ?? (await neededPrompt(lastTurn, options, workspace));
  // What came through a pipe may be anyone's words: it is no command, and an @ in it gives the model no file.
  const isTyped = prompt !== undefined && (argued === undefined || argued === argument);
  if (isTyped) checkCommand(prompt, threadId !== undefined);
  if (prompt === undefined ? threadId === undefined : prompt.trim() === "") {
    throw usageError("The prompt is empty", [
      { to: "Say what to do", run: 'harness run "PROMPT"' },
      { to: "Or", run: 'echo "PROMPT" | harness run' },
    ]);
  }
  if (prompt === undefined && options.file !== undefined) {
    throw usageError("--file needs a prompt", {
      to: "Say what to do",
      run: 'harness run --file PATH "PROMPT"',
    });
  }
  // Before a thread is made for it.
  for (const path of options.file ?? []) if (!existsSync(fromHere(path))) throw noFile(path);
  checkWhenBusy(prompt, options);
  checkLastTurn(lastTurn, prompt, options);
  const noPolicy = attach === undefined && choice.kind === "none";
  if (noPolicy) note(`harness run: ${noPolicyText}`);
  const hub = attach === undefined ? await hubOf(choice) : undefined;
  if (hub !== undefined) note(`harness run: the hub judges, and asks you there and here (${hub.directory})`);
  // The second Ctrl-C: the turn's end is written if that takes no longer than a moment.
  const interrupts = new Interrupts(() => {
    const quit = () => io().exit(interruptedExitCode());
    setTimeout(quit, quitMs);
    void server.close().then(quit);
  });
  interrupts.listen();
  endWithStderr();
  const server = new RunServer({
    attach,
    service: {
      ...options,
      cwd: workspace,
      model: options.model ?? "offline",
      interruptedTurns: options.continue && ("retry" as const),
      // The server uses the hub that was found here.
      ...(choice.kind === "hub" && { hub: hub?.directory ?? (false as const) }),
      version,
    },
  });
  const { runPrompt } = await import("./run-turns.ts");
  const { files, missing } = isTyped
    ? await mentionedFiles(prompt, workspace, io().cwd())
    : { files: [], missing: [] };
  for (const path of missing) note(`harness run: ${missingMention(path)}`);
  const file = [...(options.file ?? []), ...files.map((path) => join(workspace, path))];
  return runPrompt(
    prompt,
    { ...options, file },
    {
      version,
      workspace,
      server,
      noPolicy,
      hub,
      interrupts,
      continued: options.continue && lastTurn?.state === "interrupted" ? lastTurn.turnId : undefined,
    },
  );
};
