import {
  type CoreGrant,
  createFileGrants,
  readingPermissions,
  SIDE_EFFECTS_PERMISSION,
} from "@harnesskit/core-runtime";
import { shellWord } from "@harnesskit/wire";
import { grantsFile } from "../core/core-files.ts";
import type { InstalledAgent } from "./installed-agents.ts";

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
