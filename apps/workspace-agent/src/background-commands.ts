import { setTimeout as delay } from "node:timers/promises";
import { ToolError } from "@harnesskit/agent-sdk";
import { randomId } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";
import { type CommandRequest, type CommandResult, type RunningCommand, startCommand } from "./run-command.ts";

/** Commands that run at once, of all conversations. */
const maxRunning = 16;
/** Commands that have ended and are still known. */
const maxEnded = 64;

/** A command in the background, as a model sees it. */
export type ShownCommand = {
  id: string;
  command: string;
  running: boolean;
  /** Of one that has ended: null if a signal ended it. */
  exitCode?: number | null;
  signal?: string;
  /** It was ended by `command_stop`, or by the time that `timeoutMs` named. */
  stopped?: true;
  stdout: string;
  stderr: string;
  /** The middle of stdout or stderr was left out. */
  truncated?: true;
};

interface Command {
  readonly id: string;
  readonly owner: string;
  readonly command: string;
  readonly run: RunningCommand;
  result?: CommandResult;
  /** Its conversation knows that it has ended. */
  isTold: boolean;
}

/**
 * The commands that run in the background of conversations: each outlives its call and its turn, never this process. A
 * conversation (`owner`) sees its own alone.
 */
export class BackgroundCommands {
  readonly #commands = new Map<string, Command>();

  /** Starts one, and waits up to `settleMs` for an early end. Throws `ToolError` `tool.busy` or `tool.failed`. */
  async start(owner: string, request: CommandRequest, settleMs: number): Promise<ShownCommand> {
    const running = [...this.#commands.values()].filter(({ result }) => result === undefined);
    if (running.length >= maxRunning)
      throw new ToolError(
        "tool.busy",
        `${maxRunning} commands run in the background already: stop one first`,
      );
    const run = await startCommand({ ...request, hasInput: true }).catch((cause: unknown) => {
      throw new ToolError("tool.failed", "the shell could not be started", { cause });
    });
    // Not the id of a command of an earlier process, which the conversation may speak of.
    const id = randomId("command").slice(0, "command_".length + 6);
    const command: Command = { id, owner, command: request.command, run, isTold: false };
    this.#commands.set(id, command);
    void run.done.then((result) => {
      command.result = result;
      this.#forgetOldest();
    });
    await waitFor(command, settleMs);
    return this.#show(command);
  }

  /** Those of a conversation, the oldest first. */
  list(owner: string): ShownCommand[] {
    return this.#of(owner).map((command) => this.#show(command));
  }

  /** One of them, after its end or `waitMs`. Throws `ToolError` `tool.not_found`. */
  async look(owner: string, id: string, waitMs: number, signal: AbortSignal): Promise<ShownCommand> {
    const command = this.#find(owner, id);
    await waitFor(command, waitMs, signal);
    return this.#show(command);
  }

  /** Writes to its standard input. Throws `ToolError` `tool.not_found` or `tool.failed`. */
  async write(owner: string, id: string, text: string, end: boolean): Promise<ShownCommand> {
    const command = this.#find(owner, id);
    await command.run.write(text, end).catch((cause: unknown) => {
      throw new ToolError("tool.failed", "the command takes no more input", { cause });
    });
    return this.#show(command);
  }

  /** Ends it with all that it started. Throws `ToolError` `tool.not_found`. */
  async stop(owner: string, id: string): Promise<ShownCommand> {
    const command = this.#find(owner, id);
    command.run.stop();
    await command.run.done;
    return this.#show(command);
  }

  /** Those of a conversation as they are, each with whether the conversation knows its end. Ends count as told from now on. */
  report(owner: string): { readonly shown: ShownCommand; readonly wasTold: boolean }[] {
    return this.#of(owner).map((command) => {
      const wasTold = command.isTold;
      return { shown: this.#show(command), wasTold };
    });
  }

  #of(owner: string): Command[] {
    return [...this.#commands.values()].filter((command) => command.owner === owner);
  }

  #find(owner: string, id: string): Command {
    const command = this.#commands.get(id);
    if (command?.owner === owner) return command;
    throw new ToolError(
      "tool.not_found",
      "no such command of this conversation: `commands` lists them; those of a process of the tools that ended have ended with it",
    );
  }

  #show(shown: Command): ShownCommand {
    const { id, command, run, result } = shown;
    if (result !== undefined) shown.isTold = true;
    const { stdout, stderr, truncated } = result ?? run.output();
    return defined({
      id,
      command,
      running: result === undefined,
      exitCode: result?.exitCode,
      signal: result?.signal ?? undefined,
      stopped: (result !== undefined && result.ended !== "exit") || undefined,
      stdout,
      stderr,
      truncated: truncated || undefined,
    });
  }

  #forgetOldest(): void {
    const ended = [...this.#commands.values()].filter(({ result }) => result !== undefined);
    for (const { id } of ended.slice(0, Math.max(0, ended.length - maxEnded))) this.#commands.delete(id);
  }
}

/** Until the command has ended, the time is over or the signal aborts. */
async function waitFor(command: Command, ms: number, signal?: AbortSignal): Promise<void> {
  if (command.result !== undefined || ms === 0) return;
  const over = new AbortController();
  const bound = delay(ms, undefined, { signal: AbortSignal.any([over.signal, ...(signal ? [signal] : [])]) });
  await Promise.race([command.run.done, bound]).catch(() => {});
  over.abort();
  await bound.catch(() => {});
}
