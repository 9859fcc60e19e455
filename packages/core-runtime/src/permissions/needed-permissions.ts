import type { ToolInfo } from "../judge-tool.ts";
import { readingPermissions, SIDE_EFFECTS_PERMISSION } from "./grant.ts";

const none: readonly string[] = Object.freeze([]);

const isReading = (permission: string): boolean => readingPermissions.includes(permission);

/**
 * What must be granted for a tool, beyond reading, which every agent may do: `side_effects`, unless the tool declares that
 * it has none, and each permission that the tool declares, or its manifest where the tool declares no `permissions`.
 */
export const neededPermissions = (tool: ToolInfo, ofManifest: readonly string[]): readonly string[] => {
  const declared = tool.permissions ?? ofManifest;
  if (tool.side_effects === false) {
    return declared.every(isReading) ? none : [...new Set(declared.filter((name) => !isReading(name)))];
  }
  return [...new Set([SIDE_EFFECTS_PERMISSION, ...declared.filter((name) => !isReading(name))])];
};
