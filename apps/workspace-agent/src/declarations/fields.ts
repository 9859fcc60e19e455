import * as z from "zod";

/** A path as a model writes it. What it means is checked by `Workspace.resolve`. */
export const PathSchema = z
  .string()
  .min(1)
  .max(4096)
  .describe("Path relative to the workspace, or absolute inside it");

/** Text that UTF-8 can express. */
export const WellFormedTextSchema = z
  .string()
  .refine((text) => !/\p{Cs}/u.test(text), { error: "is not well-formed Unicode" });

/** Whether a search leaves nothing out but `.git` and `.harness`. */
export const AllFilesSchema = z
  .boolean()
  .exactOptional()
  .describe("Search also the files that .gitignore excludes, and node_modules");
