import { displayText, isThenable } from "@harnesskit/wire";
import type { Clock } from "@harnesskit/wire/time";
import type { Authorization, AuthorizationRequest, Authorize } from "../authorize.ts";
import { isInForce } from "../records/in-force.ts";
import { recordFault } from "../records/record-file-error.ts";
import { type Grant, PermissionNameSchema } from "./grant.ts";
import type { GrantStore } from "./grants.ts";
import { neededPermissions } from "./needed-permissions.ts";

const allowed: Authorization = Object.freeze({ allowed: true });
/** Permissions that a refusal names. */
const maxNamed = 8;

/** Grants by agent and permission. */
type GrantIndex = ReadonlyMap<string, readonly Grant[]>;

/** No id of an agent contains a space. */
const keyOf = (agentId: string, permission: string): string => `${agentId} ${permission}`;

const indexOf = (grants: readonly Grant[]): GrantIndex => {
  const index = new Map<string, Grant[]>();
  for (const grant of grants) {
    const key = keyOf(grant.agent_id, grant.permission);
    const others = index.get(key);
    if (others) others.push(grant);
    else index.set(key, [grant]);
  }
  return index;
};

type Party = { readonly type: string; readonly id: string } | undefined;

const isParty = (wanted: Party, actual: Party): boolean =>
  wanted === undefined || (wanted.type === actual?.type && wanted.id === actual.id);

const covers = (grant: Grant, { tool, caller, actor }: AuthorizationRequest, now: number): boolean =>
  (grant.tools === undefined || grant.tools.includes(tool.name)) &&
  isParty(grant.caller, caller) &&
  isParty(grant.actor, actor) &&
  isInForce(grant.granted_at, grant.until, now);

/**
 * The default of `authorize`: allows what the tool needs beyond reading only where each permission is granted for this
 * tool, caller, actor and time. Where the grants cannot be read, nothing is granted.
 */
export const authorizeByGrants = (grants: GrantStore | undefined, clock: Clock): Authorize => {
  let indexed: readonly Grant[] | undefined;
  let index: GrantIndex = new Map();
  const decide = (request: AuthorizationRequest, needed: readonly string[], list: readonly Grant[]) => {
    if (indexed !== list) {
      index = indexOf(list);
      indexed = list;
    }
    const now = clock.now();
    const { agent_id: agentId } = request.tool;
    const missing = needed.filter(
      (name) => !index.get(keyOf(agentId, name))?.some((grant) => covers(grant, request, now)),
    );
    if (missing.length === 0) return allowed;
    return refusal(
      request,
      missing,
      missing.some((name) => index.has(keyOf(agentId, name))),
    );
  };
  return (request) => {
    const needed = neededPermissions(request.tool, request.permissions);
    if (needed.length === 0) return allowed;
    if (!grants) return refusal(request, needed, false);
    try {
      const list = grants.list();
      if (!isThenable(list)) return decide(request, needed, list);
      return list.then((items) => decide(request, needed, items), unreadable);
    } catch (error) {
      return unreadable(error);
    }
  };
};

const refusal = (
  { tool }: AuthorizationRequest,
  missing: readonly string[],
  isGrantedElsewhere: boolean,
): Authorization => {
  const named = missing.slice(0, maxNamed);
  const names = named.map((name) => displayText(name, { maxLength: 100 })).join(", ");
  const what = `${missing.length === 1 ? "the permission" : "the permissions"} ${names}`;
  const elsewhere = isGrantedElsewhere ? " for this tool, caller, actor and time" : "";
  const isGrantable = named.every((name) => PermissionNameSchema.safeParse(name).success);
  const how = isGrantable
    ? `harness core grant ${tool.agent_id} ${named.map(shellWord).join(" ")} --tool ${tool.name}`
    : "such a name cannot be granted";
  return {
    allowed: false,
    reason: `${tool.agent_id} lacks ${what}${elsewhere}: ${how}`,
    details: { missing: named },
  };
};

/** The only character of a permission's name that a shell may read. */
const shellWord = (name: string): string => (name.includes("*") ? `'${name}'` : name);

const unreadable = (error: unknown): Authorization => ({
  allowed: false,
  reason: `the grants cannot be read, so nothing is granted (${recordFault(error)})`,
});
