import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { Resolved } from "@harnesskit/wire";
import { checkNumber, defineLimits, InvalidArgumentError } from "@harnesskit/wire";
import { canonicalJson, isObject } from "@harnesskit/wire/json";
import { type ParseError, parse } from "jsonc-parser";
import { HookError } from "../hook-error.ts";
import type { Host } from "../host.ts";
import { type HookCommand, hooksText, type JsonHostSettings, type ManagedSettings } from "./host-settings.ts";
import { insert, nodeAt, removeMember } from "./json-edit.ts";

const { defaults: limits } = defineLimits({ maxSettingsLength: 1024 * 1024, maxCommandLength: 4096 });
const hourMs = 3_600_000;

const checkCommand = ({ command, timeoutMs = hourMs }: HookCommand): Resolved<HookCommand> => {
  const isText = typeof command === "string" && command.trim() !== "" && !/[\0\r\n]|\p{Cs}/u.test(command);
  if (!isText || command.length > limits.maxCommandLength) {
    throw new InvalidArgumentError(`command must be one line of 1 to ${limits.maxCommandLength} characters`);
  }
  return { command, timeoutMs: checkNumber("timeoutMs", timeoutMs, { min: 1000 }) };
};

const unusable = (host: Host, problem: string): HookError =>
  new HookError("settings_shape", `${host.name}: the settings are not changed: ${problem}`);

/** The settings as an object; throws for content that the host would not read either. */
const readSettings = (host: Host, settings: JsonHostSettings, text: string): JsonObject => {
  if (text.length > limits.maxSettingsLength) {
    const message = `${host.name}: the settings have more than ${limits.maxSettingsLength} characters`;
    throw new HookError("settings_too_large", message);
  }
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { disallowComments: !settings.comments });
  const error = errors[0];
  if (error) {
    const line = text.slice(0, error.offset).split("\n").length;
    throw new HookError("settings_not_json", `${host.name}: the settings are not JSON at line ${line}`);
  }
  if (!isObject(value)) throw unusable(host, "they are not an object");
  const { hooks } = value;
  if (hooks !== undefined && !isObject(hooks)) throw unusable(host, "hooks is not an object");
  for (const [event, entries] of Object.entries(hooks ?? {})) {
    if (Object.hasOwn(host.events, event) && !Array.isArray(entries)) {
      throw unusable(host, `hooks.${event} is not an array`);
    }
  }
  const missing = Object.keys(settings.header).find((name) => value[name] !== settings.header[name]);
  if (missing !== undefined) {
    throw unusable(host, `they need "${missing}": ${JSON.stringify(settings.header[missing])}`);
  }
  // Of two fields with one name the parser sees the last, and an edit would go to the first.
  if (repeatsKey(text, [[], ["hooks"]])) throw unusable(host, "a field is given twice");
  return value as JsonObject;
};

const repeatsKey = (text: string, paths: readonly (readonly string[])[]): boolean =>
  paths.some((path) => {
    const names = (nodeAt(text, path)?.children ?? []).map((property) => property.children?.[0]?.value);
    return new Set(names).size < names.length;
  });

const commandsOf = (entry: unknown): readonly unknown[] => {
  if (!isObject(entry)) return [];
  if (Array.isArray(entry.hooks)) return entry.hooks.flatMap(commandsOf);
  return ["command", "bash"].map((name) => entry[name]).filter((value) => value !== undefined);
};

/** Entries whose handlers all run this command. */
const isOurHook = (entry: unknown, command: string): boolean => {
  const commands = commandsOf(entry);
  return commands.length > 0 && commands.every((one) => one === command);
};

const isBlank = (text: string | undefined): boolean => text === undefined || text.trim() === "";

const entriesAt = (root: JsonObject, event: string): readonly unknown[] => {
  const hooks = root.hooks;
  const entries = isObject(hooks) && Object.hasOwn(hooks, event) ? hooks[event] : undefined;
  return Array.isArray(entries) ? entries : [];
};

const removeEntries = (text: string, root: JsonObject, command: string): string => {
  let result = text;
  const events = isObject(root.hooks) ? Object.keys(root.hooks).reverse() : [];
  for (const event of events) {
    const entries = entriesAt(root, event);
    for (let index = entries.length - 1; index >= 0; index--) {
      if (isOurHook(entries[index], command)) result = removeMember(result, ["hooks", event, index]);
    }
  }
  return result;
};

/** Whether each event has its entry exactly once. */
const isPlanned = (
  root: JsonObject,
  entries: Readonly<Record<string, JsonObject>>,
  command: string,
): boolean =>
  Object.entries(entries).every(([event, entry]) => {
    const ours = entriesAt(root, event).filter((one) => isOurHook(one, command));
    return ours.length === 1 && canonicalJson(ours[0] as JsonObject) === canonicalJson(entry);
  });

const addEntries = (text: string, entries: Readonly<Record<string, JsonObject>>): string => {
  if (!nodeAt(text, ["hooks"])) {
    const hooks = Object.fromEntries(Object.entries(entries).map(([event, entry]) => [event, [entry]]));
    return insert(text, [], [{ key: "hooks", value: hooks }]);
  }
  let result = text;
  const isNew = (event: string) => !nodeAt(text, ["hooks", event]);
  for (const [event, entry] of Object.entries(entries)) {
    if (!isNew(event)) result = insert(result, ["hooks", event], [{ value: entry }]);
  }
  const members = Object.entries(entries)
    .filter(([event]) => isNew(event))
    .map(([key, entry]) => ({ key, value: [entry] }));
  return members.length === 0 ? result : insert(result, ["hooks"], members);
};

/**
 * The text of a settings file with the hooks in it that run `command`, and with the host's switches to refuse calls when a hook
 * fails. Everything else stays as it is, to the byte. The same content for content that has them; what an earlier
 * plan with this command and another time wrote is replaced. Call it with undefined or "" for a file that is missing.
 *
 * Throws {@link HookError}: `settings_not_json` for content that the host would not read, `settings_too_large` above a
 * million characters, `settings_shape` for settings in which hooks cannot be entered or are switched off, and for a
 * plugin file of another program. Throws `invalid_argument` for a command of several lines or a time below one second.
 */
export const planSettings = (host: Host, text: string | undefined, options: HookCommand): string => {
  const command = checkCommand(options);
  const { settings } = host;
  if (settings.kind === "plugin") {
    const plugin = settings.plugin(command);
    if (!isBlank(text) && !isPlugin(host, text as string))
      throw unusable(host, "the file is another program's");
    return plugin;
  }
  const entries = settings.entries(command);
  if (text === undefined || isBlank(text)) return hooksText(settings.header, entries);
  const root = readSettings(host, settings, text);
  const off = settings.switchedOff?.(root);
  if (off !== undefined) throw unusable(host, `its hooks would not run: ${off}`);
  if (isPlanned(root, entries, command.command)) return text;
  const cleared = removeEntries(text, root, command.command);
  return isBlank(cleared) ? hooksText(settings.header, entries) : addEntries(cleared, entries);
};

const isPlugin = (host: Host, text: string): boolean => {
  const { settings } = host;
  if (settings.kind !== "plugin") return false;
  const [firstLine] = settings.plugin({ command: "", timeoutMs: 1 }).split("\n");
  return text.split("\n")[0] === firstLine;
};

/**
 * The text without the hooks that run `command`: to the byte what it was before `planSettings`, unless it was edited since;
 * "" where the whole file was planned, which the caller deletes. Throws as `planSettings` does.
 */
export const removeSettings = (host: Host, text: string | undefined, options: HookCommand): string => {
  const command = checkCommand(options);
  const { settings } = host;
  if (text === undefined || isBlank(text)) return text ?? "";
  if (settings.kind === "plugin") return isPlugin(host, text) ? "" : text;
  const root = readSettings(host, settings, text);
  if (text === hooksText(settings.header, settings.entries(command))) return "";
  return removeEntries(text, root, command.command);
};

/**
 * What an administrator would put in a place that users cannot change, so that the hooks hold for all of them; undefined for a host
 * without one. This package never writes there.
 */
export const managedSettings = (host: Host, options: HookCommand): ManagedSettings | undefined => {
  const command = checkCommand(options);
  return host.settings.kind === "json" ? host.settings.managed(command) : undefined;
};

const pluginCommand = /^const command = (".*");$/m;

/**
 * The commands that a settings text runs for hooks of the events that the host has, each once, ours and those of others; of a plugin file
 * only ours. Throws as `planSettings` does for content that the host would not read.
 */
export const hookCommands = (host: Host, text: string | undefined): readonly string[] => {
  if (text === undefined || isBlank(text)) return [];
  if (host.settings.kind === "plugin") {
    const command = isPlugin(host, text) ? pluginCommand.exec(text)?.[1] : undefined;
    return command === undefined ? [] : [JSON.parse(command) as string];
  }
  const { hooks } = readSettings(host, { ...host.settings, header: {} }, text);
  const all = isObject(hooks) ? Object.values(hooks).flatMap((entries) => [entries].flat()) : [];
  return [...new Set(all.flatMap(commandsOf))].filter((command) => typeof command === "string");
};
