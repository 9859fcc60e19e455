import { workspaceAgentId } from "@harnesskit/workspace-agent/declarations";

const [vendor = ""] = workspaceAgentId.split(".");

/** True for an id of ours: grants and policies name it. */
export const isReservedId = (id: string): boolean => {
  const parts = id.toLowerCase().split(/[._-]/);
  return parts.includes(vendor) || parts[0] === "harness" || parts.join("") === "workspace";
};
