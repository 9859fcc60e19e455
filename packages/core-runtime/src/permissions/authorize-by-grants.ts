import type { Actor, Caller } from "@harnesskit/protocol/runtime";
import { displayText, isThenable } from "@harnesskit/wire";
import type { Clock } from "@harnesskit/wire/time";
import type { Authorization } from "../core-options.ts";
import type { ToolInfo } from "../judge-tool.ts";
import {
  type CoreGrant,
  isInForce,
  PermissionNameSchema,
  readingPermissions,
  SIDE_EFFECTS_PERMISSION,
} from "./grant.ts";
import { recordFault } from "./grant-file.ts";
import type { GrantStore } from "./grant-store.ts";

const none: readonly string[] = Object.freeze([]);

const isReading = (permission: string): boolean => readingPermissions.includes(permission);

/**
 * What must be granted for a tool, beyond reading, which every agent may do: `side_effects`, unless the tool declares that
 * it has none, and each permission that the tool declares, or its manifest where the tool declares no `permissions`.
 */
const neededPermissions = (tool: ToolInfo, ofManifest: readonly string[]): readonly string[] => {
  const declared = tool.permissions ?? ofManifest;
  const isHarmless = tool.side_effects === false;
  if (isHarmless && declared.every(isReading)) return none;
  const beyond = declared.filter((name) => !isReading(name));
  return [...new Set(isHarmless ? beyond : [SIDE_EFFECTS_PERMISSION, ...beyond])];
};

const allowed: Authorization = Object.freeze({ allowed: true });
const byDefault = " (by its manifest, since the tool names no `permissions` of its own ([] for none))";
/** Permissions that a refusal names. */
const maxNamed = 8;

/** Who calls. */
interface Parties {
  readonly caller?: Caller | undefined;
  readonly actor?: Actor | undefined;
}

type Party = { readonly type: string; readonly id: string } | undefined;

const isParty = (wanted: Party, actual: Party): boolean =>
  wanted === undefined || (wanted.type === actual?.type && wanted.id === actual.id);

const isFor = (tool: ToolInfo, permission: string, { caller, actor }: Parties, grant: CoreGrant): boolean =>
  grant.agent_id === tool.agent_id &&
  grant.permission === permission &&
  (grant.tools === undefined || grant.tools.includes(tool.name)) &&
  isParty(grant.caller, caller) &&
  isParty(grant.actor, actor);

/**
 * Decides by the operator's grants: a tool that needs more than reading may be called only where each permission is granted
 * for this tool, caller, actor and time. Where the grants cannot be read, nothing is granted.
 */
export class GrantAuthorizer {
  readonly #grants: GrantStore | undefined;
  readonly #clock: Clock;
  readonly #operatorCommand: string | undefined;

  constructor(grants: GrantStore | undefined, clock: Clock, operatorCommand: string | undefined) {
    this.#grants = grants;
    this.#clock = clock;
    this.#operatorCommand = operatorCommand;
  }

  decide(
    tool: ToolInfo,
    ofManifest: readonly string[],
    parties: Parties,
  ): Authorization | PromiseLike<Authorization> {
    const permissions = neededPermissions(tool, ofManifest);
    if (permissions.length === 0) return allowed;
    try {
      const list = this.#grants?.list() ?? [];
      if (!isThenable(list)) return this.#judge(tool, permissions, parties, list);
      return list.then((items) => this.#judge(tool, permissions, parties, items), grantsUnreadable);
    } catch (error) {
      return grantsUnreadable(error);
    }
  }

  #judge(
    tool: ToolInfo,
    permissions: readonly string[],
    parties: Parties,
    list: readonly CoreGrant[],
  ): Authorization {
    const now = this.#clock.now();
    const missing = permissions.filter(
      (permission) => !list.some((grant) => isFor(tool, permission, parties, grant) && isInForce(grant, now)),
    );
    if (missing.length === 0) return allowed;
    const named = missing.slice(0, maxNamed);
    const names = named.map((name) => displayText(name, { maxLength: 100 })).join(", ");
    const isGrantedElse = list.some(
      ({ agent_id: agentId, permission }) => agentId === tool.agent_id && missing.includes(permission),
    );
    const elsewhere = isGrantedElse ? " for this tool, caller, actor and time" : "";
    const lacks = `lacks the permission${missing.length === 1 ? "" : "s"} ${names}${elsewhere}`;
    const isByDefault =
      tool.permissions === undefined && missing.some((name) => name !== SIDE_EFFECTS_PERMISSION);
    const why = isByDefault ? byDefault : "";
    const isGrantable = named.every((name) => PermissionNameSchema.safeParse(name).success);
    const how = isGrantable ? this.#howToGrant(tool, named) : "such a name cannot be granted";
    return { allowed: false, reason: `${tool.agent_id} ${lacks}${why}: ${how}`, details: { missing: named } };
  }

  #howToGrant({ agent_id, name }: ToolInfo, permissions: readonly string[]): string {
    const command = this.#operatorCommand;
    if (command !== undefined) {
      return `${command} grant ${agent_id} ${permissions.map(shellWord).join(" ")} --tool ${name}`;
    }
    return this.#grants
      ? "add it with addGrants to the store that this core has as its option grants"
      : "this core has no option grants, so it grants reading only";
  }
}

/** The only character of a permission's name that a shell may read. */
const shellWord = (name: string): string => (name.includes("*") ? `'${name}'` : name);

const grantsUnreadable = (error: unknown): Authorization => ({
  allowed: false,
  reason: `the grants cannot be read, so nothing is granted (${recordFault(error)})`,
});
