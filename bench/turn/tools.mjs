import { z } from "zod";

const path = z.string().min(1).describe("A path, relative to the directory of the thread");
const line = z.number().int().min(1).max(1_000_000);

/** Six tools of the usual kind, by name: what a coding agent is given. */
export const definitions = {
  read: ["Reads a file.", z.object({ path, offset: line.optional(), limit: line.max(2000).optional() })],
  write: ["Writes a file.", z.object({ path, content: z.string().max(1_000_000) })],
  edit: [
    "Replaces text in a file.",
    z.object({ path, old: z.string().min(1), new: z.string(), all: z.boolean().default(false) }),
  ],
  glob: ["Finds files by name.", z.object({ pattern: z.string().min(1).max(1000), path: path.optional() })],
  grep: [
    "Searches in files.",
    z.object({
      pattern: z.string().min(1).max(1000),
      path: path.optional(),
      mode: z.enum(["files", "lines", "count"]).default("lines"),
      context: z.number().int().min(0).max(20).optional(),
    }),
  ],
  bash: [
    "Runs a command.",
    z.object({
      command: z.string().min(1).max(10_000),
      timeoutMs: line.optional(),
      why: z.string().optional(),
    }),
  ],
};
