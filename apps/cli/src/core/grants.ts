import type { AuditEntryInput } from "@harnesskit/audit";
import { addGrants, type CoreGrant, createFileGrants, removeGrants } from "@harnesskit/core-runtime";
import type { Caller } from "@harnesskit/protocol/runtime";
import { openCoreAuditLog } from "../audit/audit-logs.ts";
import { ExitCode } from "../cli-error.ts";
import { io } from "../io.ts";
import { createTerminal, emit } from "../terminal/terminal.ts";
import { grantsFile, thisUser, toParty, toUntil, withFile } from "./core-files.ts";

export interface GrantsOptions {
  readonly file?: string;
  readonly json?: true;
}

export interface GrantChangeOptions extends GrantsOptions {
  readonly tool?: readonly string[];
  readonly caller?: string;
  readonly actor?: string;
  readonly until?: string;
  readonly audit?: string | false;
}

const party = ({ type, id }: Caller): string => `${type}:${id}`;

const grantLine = (grant: CoreGrant): string => {
  const { agent_id: agent, permission, tools, caller, actor, until, granted_at: at, granted_by: by } = grant;
  const facts = [
    ...(tools ? [`tools ${tools.join(", ")}`] : ["all tools"]),
    ...(caller ? [`caller ${party(caller)}`] : []),
    ...(actor ? [`actor ${party(actor)}`] : []),
    ...(until === undefined ? [] : [`until ${until}`]),
    `granted ${at} by ${by}`,
  ];
  return `${agent}  ${permission}  (${facts.join("; ")})`;
};

/** The tools that `--tool` names, without their agent. */
const toolsOf = (agentId: string, tools: readonly string[] | undefined): string[] | undefined =>
  tools?.map((tool) => (tool.startsWith(`${agentId}/`) ? tool.slice(agentId.length + 1) : tool));

const scopeOf = (agentId: string, { tool, caller, actor, until }: GrantChangeOptions) => {
  const tools = toolsOf(agentId, tool);
  return {
    tools,
    caller: caller === undefined ? undefined : toParty("--caller", caller),
    actor: actor === undefined ? undefined : toParty("--actor", actor),
    until: until === undefined ? undefined : toUntil("--until", until),
  };
};

const record = async (
  action: "grant.added" | "grant.revoked",
  grants: readonly CoreGrant[],
  { audit }: GrantChangeOptions,
): Promise<void> => {
  const sink = await openCoreAuditLog(audit);
  for (const { id, agent_id, permission, tools } of grants) {
    const details = { grant_id: id, permission, tools: tools ? tools.join(" ") : undefined };
    const entry: AuditEntryInput = { action, outcome: "ok", agent_id, details };
    sink?.record({ ...entry, actor: { type: "human", id: thisUser() } });
  }
  await sink?.close();
};

const show = (what: string, grants: readonly CoreGrant[], { json }: GrantsOptions): void => {
  emit(json, { [what]: grants }, () => grants.map((grant) => `${what}  ${grantLine(grant)}`));
};

/** `harness core grant`: an agent may do more than read. Returns the exit code. */
export const grant = async (
  agentId: string,
  permissions: readonly string[],
  options: GrantChangeOptions,
): Promise<ExitCode> => {
  const store = createFileGrants({ path: grantsFile(options.file) });
  const request = { agent_id: agentId, permissions, granted_by: thisUser(), ...scopeOf(agentId, options) };
  const added = await withFile(() => addGrants(store, request));
  await record("grant.added", added, options);
  show("granted", added, options);
  return ExitCode.done;
};

/** `harness core revoke`: what was granted no longer holds, in running cores too. Returns the exit code. */
export const revoke = async (
  agentId: string,
  permissions: readonly string[],
  options: GrantChangeOptions,
): Promise<ExitCode> => {
  const store = createFileGrants({ path: grantsFile(options.file) });
  const { tools, caller, actor } = scopeOf(agentId, options);
  const isSame = (wanted: Caller | undefined, found: Caller | undefined) =>
    wanted === undefined || party(wanted) === (found && party(found));
  const isMeant = (each: CoreGrant) =>
    each.agent_id === agentId &&
    permissions.includes(each.permission) &&
    isSame(caller, each.caller) &&
    isSame(actor, each.actor);
  const removed = await withFile(() => removeGrants(store, isMeant, tools));
  await record("grant.revoked", removed, options);
  if (removed.length > 0 || options.json) show("revoked", removed, options);
  else
    createTerminal(io().stderr).say(
      `harness core: ${agentId} was not granted ${permissions.join(", ")}; harness core list shows its grants`,
    );
  return removed.length > 0 ? ExitCode.done : ExitCode.failed;
};

/** `harness core grants`: what is granted, by agent and permission. */
export const listGrants = async ({ file, json }: GrantsOptions): Promise<ExitCode> => {
  const path = grantsFile(file);
  const grants = await withFile(() => createFileGrants({ path }).list());
  emit(json, { file: path, grants }, () =>
    grants.length === 0 ? "Nothing is granted: agents may only read." : grants.map(grantLine),
  );
  return ExitCode.done;
};
