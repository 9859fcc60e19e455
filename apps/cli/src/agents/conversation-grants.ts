import type { CoreGrant, GrantStore } from "@harnesskit/core-runtime";
import { prepareToolName, workspaceAgentId, workspaceTools } from "@harnesskit/workspace-agent/declarations";
import { grantsFile } from "../core/core-files.ts";

/**
 * The grants of a conversation: those of the workspace tools, and for other agents what the operator granted with `harness
 * core grant`. Without other agents no file is read. The code is loaded with the first use, as the core is.
 */
export const conversationGrants = (callerId: string, hasAgents: boolean): GrantStore => {
  let opened: Promise<GrantStore> | undefined;
  const open = () => (opened ??= openGrants(callerId, hasAgents));
  return {
    list: async () => (await open()).list(),
    change: async (edit) => (await open()).change(edit),
  };
};

const openGrants = async (callerId: string, hasAgents: boolean): Promise<GrantStore> => {
  const { createFileGrants, createMemoryGrants, toGrants } = await import("./core-files.ts");
  // What the workspace agent may do, for this program alone; whatever else its manifest may come to need is refused.
  const own = toGrants({
    agent_id: workspaceAgentId,
    permissions: ["side_effects", "fs.write", "process.execute"],
    tools: [prepareToolName, ...workspaceTools.map(({ name }) => name)],
    // A policy and the user judge each of its calls.
    caller: { type: "agent", id: callerId },
    granted_by: callerId,
  });
  if (!hasAgents) return createMemoryGrants(own);
  const file = createFileGrants({ path: grantsFile() });
  let last: { readonly read: readonly CoreGrant[]; readonly all: readonly CoreGrant[] } | undefined;
  const join = (read: readonly CoreGrant[]): readonly CoreGrant[] => {
    if (last?.read !== read) last = { read, all: [...own, ...read] };
    return last.all;
  };
  return {
    list() {
      const read = file.list();
      return read instanceof Promise ? read.then(join) : join(read);
    },
    change: (edit) => file.change(edit),
  };
};
