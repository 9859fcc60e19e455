import { realpath } from "node:fs/promises";
import { type Host, hookCommands, planSettings, removeSettings } from "@harnesskit/agent-hooks";
import { type SettingsPlaces, type SettingsScope, settingsPath } from "./agent-places.ts";
import { isHookCommand } from "./hook-command.ts";
import { type InstallRecord, type InstallRecords, textDigest } from "./install-records.ts";
import {
  readSettingsFile,
  removeEmptyDirectories,
  replaceSettingsFile,
  type SettingsFile,
} from "./settings-file.ts";

/** A change of one settings file, to be shown before it is made. */
export interface SettingsChange {
  readonly host: Host;
  readonly scope: SettingsScope;
  readonly file: SettingsFile;
  /** The text without any hooks of ours; undefined: there would be no file. */
  readonly without: string | undefined;
  /** The text after the change; undefined: the file is removed. */
  readonly after: string | undefined;
  /** The command that the hooks run after the change; undefined after a removal. */
  readonly command: string | undefined;
  readonly timeoutMs: number;
  readonly record: InstallRecord | undefined;
}

/** Where a change is made. */
export interface ChangeContext {
  readonly places: SettingsPlaces;
  readonly records: InstallRecords;
}

/** The hooks of one host in one settings file, as they are. */
export interface HookState {
  readonly host: Host;
  readonly scope: SettingsScope;
  readonly file: SettingsFile;
  /** Commands of ours in it. */
  readonly commands: readonly string[];
  readonly record: InstallRecord | undefined;
}

const boundary = async (scope: SettingsScope, { project }: SettingsPlaces): Promise<string | undefined> =>
  scope === "project" ? await realpath(project) : undefined;

/** Reads what is installed. Rejects with a `SettingsError`, or a `HookError` for a file that the host would not read. */
export const readHookState = async (
  host: Host,
  scope: SettingsScope,
  { places, records }: ChangeContext,
): Promise<HookState> => {
  const file = await readSettingsFile(settingsPath(host, scope, places), await boundary(scope, places));
  const record = (await records.list()).find((one) => one.path === file.realPath && one.host === host.id);
  const commands = hookCommands(host, file.text).filter(
    (command) => command === record?.command || isHookCommand(command, host.id),
  );
  return { host, scope, file, commands, record };
};

/** The text without our hooks; exactly what was there before where the file is as it was written. */
const withoutHooks = async (
  { host, file, commands, record }: HookState,
  records: InstallRecords,
): Promise<string | undefined> => {
  if (file.text === undefined) return undefined;
  if (record && (await textDigest(file.text)) === record.written) {
    if (record.backup === undefined) return undefined;
    const before = await records.readBackup(record.backup);
    if (before !== undefined) return before;
  }
  let text = file.text;
  for (const command of commands) {
    const timeoutMs = command === record?.command ? record.timeoutMs : undefined;
    text = removeSettings(host, text, {
      command,
      timeoutMs,
    });
  }
  return text === "" && file.text !== "" ? undefined : text;
};

/**
 * What an installation would change; undefined where the hooks are there already with this command and time. Hooks of an earlier
 * installation with another command are replaced. Rejects with a `SettingsError` or a `HookError`; nothing is written.
 */
export const planInstallation = async (
  state: HookState,
  { command, timeoutMs }: { readonly command: string; readonly timeoutMs: number },
  { records }: ChangeContext,
): Promise<SettingsChange | undefined> => {
  const { host, scope, file, record } = state;
  const planned = { command, timeoutMs };
  if (state.commands.length === 1 && state.commands[0] === command) {
    if (planSettings(host, file.text, planned) === file.text) return undefined;
  }
  const without = state.commands.length === 0 ? file.text : await withoutHooks(state, records);
  const after = planSettings(host, without, planned);
  return { host, scope, file, without, after, command, timeoutMs, record };
};

/** What a removal would change; undefined where there is nothing of ours. Rejects as {@link planInstallation} does. */
export const planRemoval = async (
  state: HookState,
  { records }: ChangeContext,
): Promise<SettingsChange | undefined> => {
  const { host, scope, file, commands, record } = state;
  if (commands.length === 0) return undefined;
  const without = await withoutHooks(state, records);
  return { host, scope, file, without, after: without, command: undefined, timeoutMs: 1, record };
};

/**
 * Makes a change: the content before is copied to the backups, then the file is replaced as a whole. Rejects with `settings_changed` where another
 * program was quicker, and `settings_busy`; then nothing is changed. Returns the path of the backup, if there was a file.
 */
export const applyChange = (
  change: SettingsChange,
  { places, records }: ChangeContext,
  nowMs: number,
): Promise<{ readonly backup: string | undefined }> =>
  records.exclusively(async () => {
    const { host, scope, file, without, after, command, timeoutMs, record } = change;
    const inside = await boundary(scope, places);
    const keep = async (text: string | undefined) =>
      text === undefined ? undefined : records.backUp(host.id, text, nowMs);
    const backup = await keep(file.text);
    const made = await replaceSettingsFile(file, after, inside);
    const madeDirectories = [...new Set([...(record?.madeDirectories ?? []), ...made])];
    if (command === undefined || after === undefined) {
      if (after === undefined) await removeEmptyDirectories(madeDirectories);
      await records.put(file.realPath, undefined);
      return { backup };
    }
    const original = without === file.text ? backup : await keep(without);
    await records.put(file.realPath, {
      host: host.id,
      path: file.realPath,
      command,
      timeoutMs,
      installedAtMs: nowMs,
      written: await textDigest(after),
      backup: original,
      madeDirectories,
    });
    return { backup };
  });
