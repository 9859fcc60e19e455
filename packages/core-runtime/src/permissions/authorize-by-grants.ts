import type { Actor, Caller } from "@harnesskit/protocol/runtime";
import { displayText, isThenable } from "@harnesskit/wire";
import { type Clock, isoTime } from "@harnesskit/wire/time";
import type { Authorization } from "../authorize.ts";
import type { ToolInfo } from "../judge-tool.ts";
import { isInPeriod, type Period, periodOf } from "../records/in-force.ts";
import { recordFault } from "../records/record-file-error.ts";
import { type CoreGrant, PermissionNameSchema } from "./grant.ts";
import type { GrantStore } from "./grants.ts";
import { neededPermissions } from "./needed-permissions.ts";

const allowed: Authorization = Object.freeze({ allowed: true });
/** Permissions that a refusal names. */
const maxNamed = 8;

/** Who calls. */
interface Parties {
  readonly caller?: Caller | undefined;
  readonly actor?: Actor | undefined;
}

interface TimedGrant {
  readonly grant: CoreGrant;
  readonly period: Period;
}

/** What one tool needs, and the grants of it. */
interface ToolNeeds {
  readonly permissions: readonly string[];
  /** The list that `granted` is of. */
  list: readonly CoreGrant[] | undefined;
  /** For each permission the grants that are for this tool. */
  granted: readonly (readonly TimedGrant[])[];
}

type Party = { readonly type: string; readonly id: string } | undefined;

const isParty = (wanted: Party, actual: Party): boolean =>
  wanted === undefined || (wanted.type === actual?.type && wanted.id === actual.id);

const isFor = (tool: ToolInfo, permission: string, grant: CoreGrant): boolean =>
  grant.agent_id === tool.agent_id &&
  grant.permission === permission &&
  (grant.tools === undefined || grant.tools.includes(tool.name));

/**
 * Decides by the operator's grants: a tool that needs more than reading may be called only where each permission is granted
 * for this tool, caller, actor and time. Where the grants cannot be read, nothing is granted.
 */
export class GrantAuthorizer {
  readonly #grants: GrantStore | undefined;
  readonly #clock: Clock;
  readonly #operatorCommand: string | undefined;
  /** Of each registration. A tool that is registered anew is looked at anew. */
  readonly #needs = new WeakMap<ToolInfo, ToolNeeds>();

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
    const needs = this.#needsOf(tool, ofManifest);
    if (needs.permissions.length === 0) return allowed;
    if (!this.#grants) return this.#refusal(tool, needs.permissions, false);
    try {
      const list = this.#grants.list();
      if (!isThenable(list)) return this.#judge(tool, needs, parties, list);
      return list.then((items) => this.#judge(tool, needs, parties, items), grantsUnreadable);
    } catch (error) {
      return grantsUnreadable(error);
    }
  }

  #needsOf(tool: ToolInfo, ofManifest: readonly string[]): ToolNeeds {
    let needs = this.#needs.get(tool);
    if (!needs) {
      needs = { permissions: neededPermissions(tool, ofManifest), list: undefined, granted: [] };
      this.#needs.set(tool, needs);
    }
    return needs;
  }

  #judge(tool: ToolInfo, needs: ToolNeeds, parties: Parties, list: readonly CoreGrant[]): Authorization {
    if (needs.list !== list) {
      needs.granted = needs.permissions.map((permission) =>
        list
          .filter((grant) => isFor(tool, permission, grant))
          .map((grant) => ({ grant, period: periodOf(grant.granted_at, grant.until) })),
      );
      needs.list = list;
    }
    const now = this.#clock.now();
    const fits = ({ grant }: TimedGrant): boolean =>
      isParty(grant.caller, parties.caller) && isParty(grant.actor, parties.actor);
    const isGranted = (grants: readonly TimedGrant[]): boolean =>
      grants.some((each) => fits(each) && isInPeriod(each.period, now));
    if (needs.granted.every(isGranted)) return allowed;
    const missing = needs.permissions.filter((_permission, index) => !isGranted(needs.granted[index] ?? []));
    const early = needs.granted
      .filter((grants) => !isGranted(grants))
      .map((grants) => grants.find((each) => fits(each) && now < each.period.from));
    if (early[0] && early.every((each) => each !== undefined)) {
      return tooEarly(tool, missing, early[0].grant, now);
    }
    const isGrantedElse = list.some(
      ({ agent_id: agentId, permission }) => agentId === tool.agent_id && missing.includes(permission),
    );
    return this.#refusal(tool, missing, isGrantedElse);
  }

  #refusal(tool: ToolInfo, missing: readonly string[], isGrantedElse: boolean): Authorization {
    const named = missing.slice(0, maxNamed);
    const elsewhere = isGrantedElse ? " for this tool, caller, actor and time" : "";
    const isGrantable = named.every((name) => PermissionNameSchema.safeParse(name).success);
    const how = isGrantable ? this.#howToGrant(tool, named) : "such a name cannot be granted";
    return {
      allowed: false,
      reason: `${tool.agent_id} lacks ${permissionsOf(named, missing.length)}${elsewhere}: ${how}`,
      details: { missing: named },
    };
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

const permissionsOf = (named: readonly string[], count: number): string => {
  const names = named.map((name) => displayText(name, { maxLength: 100 })).join(", ");
  return `${count === 1 ? "the permission" : "the permissions"} ${names}`;
};

/** It was granted all that it needs, at a time that this machine's clock has not reached. */
const tooEarly = (
  tool: ToolInfo,
  missing: readonly string[],
  grant: CoreGrant,
  now: number,
): Authorization => {
  const what = permissionsOf(missing.slice(0, maxNamed), missing.length);
  const clock = `was given at ${grant.granted_at}, and this machine's clock says ${isoTime(now)}`;
  return { allowed: false, reason: `the grant of ${what} to ${tool.agent_id} ${clock}: set the clock` };
};

/** The only character of a permission's name that a shell may read. */
const shellWord = (name: string): string => (name.includes("*") ? `'${name}'` : name);

const grantsUnreadable = (error: unknown): Authorization => ({
  allowed: false,
  reason: `the grants cannot be read, so nothing is granted (${recordFault(error)})`,
});
