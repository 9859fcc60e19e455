/**
 * The one file that a patch envelope (`*** Begin Patch` … `*** End Patch`) adds to or changes; undefined for a patch of several
 * files, for one that deletes or moves, and for what is not understood line by line.
 */
export const readPatch = (patch: unknown): string | undefined => {
  if (typeof patch !== "string") return undefined;
  const paths: string[] = [];
  for (const line of patch.split(/\r\n|[\n\r\u2028\u2029]/)) {
    const text = line.trim();
    if (!text.startsWith("***") || text === "*** Begin Patch" || text === "*** End Patch") continue;
    if (text === "*** End of File") continue;
    const path = /^\*\*\* (?:Add|Update) File: (.+)$/.exec(text)?.[1];
    if (path === undefined) return undefined;
    paths.push(path);
  }
  return paths.length === 1 ? paths[0] : undefined;
};
