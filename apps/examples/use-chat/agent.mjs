import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createOfflineModel } from "@harnesskit/models-offline";
import { createThreadServer } from "@harnesskit/thread-server";
import { createAiSdkRunner } from "@harnesskit/thread-server/ai-sdk";
import { createFileThreadStore } from "@harnesskit/thread-server/node";
import { ToolError, tool } from "@harnesskit/wire/tool";
import * as z from "zod";

/** Names of notes, and no paths. */
const path = z.string().regex(/^\w[\w.-]{0,99}$/u, "must be the name of a note, such as milk.txt");

/** Reading passes; writing has effects, so the thread server asks first. */
const notesTools = (directory) => [
  tool({
    name: "read",
    description: "Reads a note",
    input: z.object({ path }),
    effects: "read",
    run: async ({ path }) => {
      const text = await readFile(join(directory, path), "utf8").catch(() => undefined);
      if (text === undefined) throw new ToolError("notes.not_found", `There is no note ${path}.`);
      return { path, text };
    },
  }),
  tool({
    name: "write",
    description: "Writes a note",
    input: z.object({ path, content: z.string().max(10_000) }),
    effects: "write",
    run: async ({ path, content }) => {
      await mkdir(directory, { recursive: true });
      await writeFile(join(directory, path), content);
      return { path, bytes: Buffer.byteLength(content) };
    },
  }),
];

/**
 * An agent that keeps notes, behind a thread server whose threads are files below `data`: the next process finds them. The model is
 * the offline planner; any other model of the AI SDK takes its place. `beforeDelta` slows what it says.
 */
export const createNotesAgent = ({ data, beforeDelta }) =>
  createThreadServer({
    runner: createAiSdkRunner({ model: createOfflineModel({ beforeDelta }) }),
    store: createFileThreadStore({ root: join(data, "threads") }),
    tools: notesTools(join(data, "notes")),
    resolveDirectory: async () => data,
  });
