import {
  type CoreGrant,
  createFileGrants,
  readingPermissions,
  SIDE_EFFECTS_PERMISSION,
} from "@harnesskit/core-runtime";
import { shellWord } from "@harnesskit/wire";
import { grantsFile } from "../core/core-files.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { formatTime, oneLine } from "../terminal/text.ts";
import type { InstalledAgent, ReviewedTool } from "./installed-agents.ts";

/** What is granted to each agent. Unreadable: a core grants nothing then. */
export type Granted = ReadonlyMap<string, readonly CoreGrant[]> | "unreadable";

/** Reads the grants of this user. Never rejects. */
export const readGranted = async (): Promise<Granted> => {
  try {
    const granted = new Map<string, CoreGrant[]>();
    for (const grant of await createFileGrants({ path: grantsFile() }).list()) {
      granted.set(grant.agent_id, [...(granted.get(grant.agent_id) ?? []), grant]);
    }
    return granted;
  } catch {
    return "unreadable";
  }
};

/** What the tools of an agent may need beyond reading; of an agent whose tools are not known, all that it declares. */
const neededOf = ({ manifest: { permissions = [] }, tools }: InstalledAgent): string[] => {
  const declared = permissions.filter((name) => !readingPermissions.includes(name));
  const isReading = tools?.every(({ effects }) => effects === "read") === true;
  return isReading ? declared : [SIDE_EFFECTS_PERMISSION, ...declared];
};

const scopeOf = ({ permission, tools, caller, actor, until }: CoreGrant): string => {
  const isNarrow = tools !== undefined || caller !== undefined || actor !== undefined || until !== undefined;
  return `${permission}${isNarrow ? " (in part)" : ""}`;
};

/** What is granted to an agent now, safe to show; undefined for nothing. A grant holds for whatever has the id. */
export const grantedText = ({ id }: InstalledAgent, granted: Granted): string | undefined => {
  if (granted === "unreadable") return "the grants cannot be read: harness core grants says why";
  const own = granted.get(id);
  return own && [...new Set(own.map(scopeOf))].join(", ");
};

/** The command that grants what the tools of an agent may need and have not; undefined where that is nothing. */
export const grantCommand = (agent: InstalledAgent, granted: Granted): string | undefined => {
  const whole = granted === "unreadable" ? [] : (granted.get(agent.id) ?? []);
  const missing = neededOf(agent).filter((name) => !whole.some(({ permission }) => permission === name));
  if (missing.length === 0) return undefined;
  return `harness core grant ${shellWord(agent.id)} ${missing.map((name) => shellWord(name)).join(" ")}`;
};

const maxShownTools = 100;

const effectText = { read: "reads", write: "changes", execute: "changes, may destroy" } as const;

const toolLine = ({ name, description, effects, permissions }: ReviewedTool): string => {
  const reach = permissions.includes("mcp.open_world") ? ", reaches the outside" : "";
  return `  ${name} (${effectText[effects]}${reach})  ${description}`;
};

const listOr = (list: readonly string[] | undefined, none: string): string =>
  list === undefined || list.length === 0 ? none : list.join(", ");

/** The command line as it could be typed, safe to show. */
const commandText = (command: readonly string[]): string => command.map((word) => shellWord(word)).join(" ");

const isOutside = (word: string): boolean => word.startsWith("/") || word.split("/").includes("..");

/** Everything of an agent that its operator judges before it is enabled; the first column is the label. */
export const reviewLines = (agent: InstalledAgent, granted: Granted): string[] => {
  const has = grantedText(agent, granted);
  const { id, manifest, origin, installedAt, files, bytes, hash, tools } = agent;
  const { name, version, description, command, permissions, env } = manifest;
  const toolLines = tools?.slice(0, maxShownTools).map(toolLine) ?? [];
  const more = (tools?.length ?? 0) - toolLines.length;
  return [
    `agent        ${id}`,
    ...(name === undefined ? [] : [`name         ${name}`]),
    `version      ${version}`,
    ...(description === undefined ? [] : [`description  ${description}`]),
    `origin       ${origin}`,
    `installed    ${formatTime(Date.parse(installedAt))}`,
    `command      ${commandText(command)}`,
    // An MCP server is served by a program of ours.
    ...(tools === undefined && command.some(isOutside)
      ? ["             it names files outside of the copy: these are not in the hash"]
      : []),
    `environment  ${listOr(env, "nothing beside PATH, HOME and the like")}`,
    `permissions  ${listOr(permissions, "none declared")}`,
    ...(has === undefined ? [] : [`granted      ${has}`]),
    `files        ${files} (${bytes} bytes)`,
    `hash         ${hash}`,
    ...(tools === undefined
      ? ["tools        not known before it runs"]
      : [`tools        ${tools.length}, no other is offered`, ...toolLines]),
    ...(more > 0 ? [`  … and ${more} more: harness agents list --json`] : []),
  ];
};

/** One line of the list. */
export const listLine = ({ id, state, manifest, origin }: InstalledAgent, { style }: Terminal): string => {
  const shown = state === "enabled" ? style.green("enabled") : "not enabled";
  return `${style.bold(id)} ${oneLine(manifest.version, 100)}  ${shown}  ${style.dim(origin)}`;
};

/** An installed agent for `--json`. */
export const toAgentJson = (agent: InstalledAgent, granted: Granted) => ({
  ...agent,
  granted: granted === "unreadable" ? granted : (granted.get(agent.id) ?? []),
  grantCommand: grantCommand(agent, granted),
});
