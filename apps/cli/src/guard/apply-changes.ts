import type { Host } from "@harnesskit/agent-hooks";
import { applyChange, type HookState, readHookState, type SettingsChange } from "@harnesskit/guard/settings";
import { createTwoFilesPatch } from "diff";
import { ask } from "../ask.ts";
import { ExitCode, refusedError, usageError } from "../cli-error.ts";
import { io } from "../io.ts";
import { createTerminal, type Style } from "../terminal/terminal.ts";
import { blockLines } from "../timeline/approval-lines.ts";
import { type GuardContext, settingsProblem } from "./guard-context.ts";

/** The unified diff of a change. */
const changeDiff = ({ file: { text, path }, after }: SettingsChange): string => {
  const [from, to] = [text === undefined ? "/dev/null" : path, after === undefined ? "/dev/null" : path];
  const patch = createTwoFilesPatch(from, to, text ?? "", after ?? "", undefined, undefined, { context: 3 });
  return patch.slice(patch.indexOf("\n") + 1);
};

/** A change as people read it: safe lines. */
const changeLines = (change: SettingsChange, style: Style): string[] => {
  const { host, file } = change;
  const link = file.path === file.realPath ? [] : [`  the file is a link; ${file.realPath} is changed`];
  return [style.bold(host.name), ...link, ...blockLines(changeDiff(change), style, "diff"), ""];
};

/** A change, or the reason for its absence. */
interface Planned {
  readonly id: string;
  readonly name: string;
  readonly path: string | undefined;
  readonly change?: SettingsChange | undefined;
  /** It cannot be changed. */
  readonly problem?: string;
}

export interface ApplyOptions {
  readonly yes?: true;
  readonly dryRun?: true;
  readonly json?: true;
}

/** What became of one host. */
export interface Applied extends Planned {
  readonly backup?: string | undefined;
  readonly isWritten: boolean;
}

/** Whether to write: the user's yes, or `--yes`. Throws where there is no user to ask. */
const isAllowed = async (count: number, { yes, dryRun, json }: ApplyOptions): Promise<boolean> => {
  if (dryRun || (json && !yes)) return false;
  if (yes) return true;
  const answer = await ask(
    `Write ${count === 1 ? "this file" : `these ${count} files`}?`,
    "Yes, and keep a backup",
    "No, change nothing",
  );
  if (answer === undefined)
    throw usageError("there is no terminal to ask at", "Look with --dry-run, then: --yes");
  if (!answer) throw refusedError("refused", "nothing was changed");
  return true;
};

/**
 * Plans a change of each host's settings, shows the changes, asks, and makes them; a file that cannot be changed does not keep the others from
 * it.
 */
export const changeSettings = async (
  hosts: readonly Host[],
  context: GuardContext,
  options: ApplyOptions,
  plan: (state: HookState, host: Host) => Promise<SettingsChange | undefined>,
): Promise<readonly Applied[]> => {
  const planned: Planned[] = [];
  for (const host of hosts) {
    const about = { id: host.id, name: host.name };
    try {
      const state = await readHookState(host, context.scope, context);
      planned.push({ ...about, path: state.file.path, change: await plan(state, host) });
    } catch (error) {
      planned.push({ ...about, path: undefined, problem: settingsProblem(error) });
    }
  }
  const terminal = createTerminal();
  const changes = planned.flatMap(({ change }) => (change ? [change] : []));
  if (!options.json) {
    const lines = changes.flatMap((change) => changeLines(change, terminal.style));
    if (lines.length > 0) terminal.say(lines);
  }
  const isWriting = changes.length > 0 && (await isAllowed(changes.length, options));
  const applied: Applied[] = [];
  for (const each of planned) {
    if (!each.change || !isWriting) {
      applied.push({ ...each, isWritten: false });
      continue;
    }
    try {
      const { backup } = await applyChange(each.change, context, io().clock.now());
      applied.push({ ...each, isWritten: true, backup });
    } catch (error) {
      const { change: _change, ...rest } = each;
      applied.push({ ...rest, isWritten: false, problem: settingsProblem(error) });
    }
  }
  return applied;
};

/** The result as JSON. */
export const appliedJson = (applied: readonly Applied[]) => ({
  agents: applied.map(({ id, path, change, problem, backup, isWritten }) => ({
    ...{ agent: id, file: path, diff: change && changeDiff(change), written: isWritten, backup, problem },
  })),
});

/** One line for each host. */
export const appliedLines = (applied: readonly Applied[], nothing: string): string[] =>
  applied.map(({ name, path, change, problem, backup, isWritten }) => {
    if (problem !== undefined) return `${name}: NOT CHANGED: ${problem}`;
    const place = path === undefined ? "" : ` (${path})`;
    if (!change) return `${name}: ${nothing}${place}`;
    if (!isWritten) return `${name}: would be changed${place}`;
    return `${name}: written${place}${backup === undefined ? "" : `, backup ${backup}`}`;
  });

export const exitCodeOf = (applied: readonly Applied[]): ExitCode =>
  applied.some(({ problem }) => problem !== undefined) ? ExitCode.failed : ExitCode.done;
