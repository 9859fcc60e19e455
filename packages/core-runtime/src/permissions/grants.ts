import { InvalidArgumentError, randomId } from "@harnesskit/wire";
import { type Clock, isoTime, systemClock } from "@harnesskit/wire/time";
import { checkFileGrantsOptions } from "../option-names.ts";
import { type CoreGrant, CoreGrantSchema } from "./grant.ts";
import { type FileStoreOptions, GrantFile } from "./grant-file.ts";
import { type GrantStore, grantLimits, keptGrants } from "./grant-store.ts";

/** What is granted, to an agent. Each permission becomes a grant of its own. */
export interface GrantRequest extends Pick<CoreGrant, "agent_id" | "tools" | "caller" | "actor" | "until"> {
  readonly permissions: readonly string[];
  /** Who grants it: a name for the record. */
  readonly granted_by: string;
}

/** Makes grants. Throws `invalid_argument` for a field that no grant may have. */
export const toGrants = (
  { permissions, granted_by, ...where }: GrantRequest,
  clock: Clock = systemClock,
): CoreGrant[] =>
  [...new Set(permissions)].map((permission) => {
    const given = { id: randomId("grant"), granted_at: isoTime(clock.now()), granted_by };
    const { data, error } = CoreGrantSchema.safeParse({ ...where, permission, ...given });
    if (data) return data;
    const [issue] = error.issues;
    throw new InvalidArgumentError(`grant: ${issue?.path.join(".")} is not valid: ${issue?.message}`);
  });

/** The part of a grant that says what it is for. */
const scopeOf = ({ agent_id, permission, tools, caller, actor }: CoreGrant): string =>
  JSON.stringify([agent_id, permission, [...(tools ?? [])].sort(), caller ?? null, actor ?? null]);

/**
 * Adds grants to the store; one for the same agent, permission, tools, caller and actor is replaced. Returns what was
 * added. Throws `invalid_argument`, and rejects as the store does.
 */
export const addGrants = async (
  store: GrantStore,
  request: GrantRequest,
  clock?: Clock,
): Promise<readonly CoreGrant[]> => {
  const added = toGrants(request, clock);
  const scopes = new Set(added.map(scopeOf));
  return await store.change((grants) => ({
    items: [...grants.filter((grant) => !scopes.has(scopeOf(grant))), ...added],
    result: added,
  }));
};

/**
 * Takes away each grant that `isMeant` names; with `tools`, only for these: a grant that lists tools keeps the others, one
 * for all tools goes as a whole. Returns the grants as they were; rejects as the store does.
 */
export const removeGrants = (
  store: GrantStore,
  isMeant: (grant: CoreGrant) => boolean,
  tools?: readonly string[],
): Promise<readonly CoreGrant[]> =>
  store.change((grants) => {
    const isHit = (grant: CoreGrant) =>
      isMeant(grant) && (!tools || !grant.tools || grant.tools.some((tool) => tools.includes(tool)));
    const result = grants.filter(isHit);
    if (result.length === 0) return { result };
    const items = grants.flatMap((grant) => {
      if (!isHit(grant)) return [grant];
      const left = tools ? (grant.tools ?? []).filter((tool) => !tools.includes(tool)) : [];
      return left.length === 0 ? [] : [{ ...grant, tools: left }];
    });
    return { items, result };
  });

/** Grants that end with the process; `first` are there from the start. Throws `buffer_full`. */
export const createMemoryGrants = (
  first: readonly CoreGrant[] = [],
  maxRecords: number = grantLimits.defaults.maxRecords,
): GrantStore => {
  let kept = keptGrants(first, maxRecords);
  return {
    list: () => kept,
    change: async (edit) => {
      const { items, result } = edit(kept);
      if (items) kept = keptGrants(items, maxRecords);
      return result;
    },
  };
};

/**
 * Grants in a file (JSON, 0600, sorted by agent and permission) that commands change and running cores see at once. A file
 * that cannot be used grants nothing: see {@link RecordFileError}. Throws `invalid_argument` for invalid options.
 */
export const createFileGrants = (options: FileStoreOptions): GrantStore =>
  new GrantFile(checkFileGrantsOptions(options));
