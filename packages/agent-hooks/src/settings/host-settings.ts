import type { JsonObject } from "@harnesskit/protocol/envelope";
import type { Resolved } from "@harnesskit/wire";
import { defined } from "@harnesskit/wire/json";

/** What a handler of a hook runs. */
export interface HookCommand {
  /** A command line for the host's shell, such as "harness guard hook codex". */
  readonly command: string;
  /** How long the host waits for it, in milliseconds. @default 3600000 */
  readonly timeoutMs?: number | undefined;
}

/** What an administrator would put in place; this package never writes it. */
export interface ManagedSettings {
  /** Where it belongs; each line is one platform. */
  readonly place: string;
  /** The settings, as text for that file. */
  readonly text: string;
}

/** Settings of hosts that keep hooks in a JSON text, by event. */
export interface JsonHostSettings {
  readonly kind: "json";
  /** The files that may hold hooks, for people: the user's, then the project's. */
  readonly files: readonly string[];
  /** Whether the host reads comments in the file. */
  readonly comments: boolean;
  /** Fields beside `hooks` of a file that is made new, which an existing file must have. */
  readonly header: JsonObject;
  /** What in the settings keeps the host from running its hooks, in words. @default undefined, nothing is known to */
  readonly switchedOff?: (settings: JsonObject) => string | undefined;
  /** Each event's entry, in the order in which they are written. */
  readonly entries: (command: Resolved<HookCommand>) => Readonly<Record<string, JsonObject>>;
  readonly managed: (command: Resolved<HookCommand>) => ManagedSettings;
}

/** Settings of a host that loads a plugin file, which is ours alone. */
export interface PluginHostSettings {
  readonly kind: "plugin";
  readonly files: readonly string[];
  readonly plugin: (command: Resolved<HookCommand>) => string;
}

export type HostSettings = JsonHostSettings | PluginHostSettings;

/** Entries of the form `{ matcher, hooks: [handler] }`; events without tools have no matcher. */
export const matcherEntries = (
  events: Readonly<Record<string, string | undefined>>,
  handler: JsonObject,
): Readonly<Record<string, JsonObject>> =>
  Object.fromEntries(
    Object.entries(events).map(([event, matcher]) => [event, defined({ matcher, hooks: [handler] })]),
  );

/** The same handler for each event. */
export const plainEntries = (
  events: readonly string[],
  handler: JsonObject,
): Readonly<Record<string, JsonObject>> => Object.fromEntries(events.map((event) => [event, handler]));

/** A settings object as the content of a new file, with one entry for each event. */
export const hooksText = (header: JsonObject, entries: Readonly<Record<string, JsonObject>>): string => {
  const hooks = Object.fromEntries(Object.entries(entries).map(([event, entry]) => [event, [entry]]));
  return `${JSON.stringify({ ...header, hooks }, null, 2)}\n`;
};

/** Whole seconds, for hosts that count in these. */
export const toSeconds = (ms: number): number => Math.ceil(ms / 1000);
