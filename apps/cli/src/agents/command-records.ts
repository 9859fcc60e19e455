import { rm } from "node:fs/promises";
import { join } from "node:path";
import { sha256Hex } from "@harnesskit/node-kit";
import * as z from "zod";
import { readStateJson, writeStateJson } from "../state-json.ts";
import { stateDirectory } from "../workspace-directory.ts";
import { keepNewest } from "./keep-newest.ts";

const maxFiles = 256;

/** A conversation, and the directory that its commands run in. */
export interface CommandPlace {
  readonly conversation: string | undefined;
  readonly directory: string | undefined;
}

const RecordSchema = z.object({
  id: z.string(),
  command: z.string(),
  /** The process whose tools run it. */
  owner: z.object({
    pid: z.int().positive(),
    started: z.string().optional(),
    world: z.string().optional(),
  }),
});
export type CommandRecord = z.infer<typeof RecordSchema>;

const recordsDirectory = (): string => stateDirectory("commands");

const fileOf = ({ conversation, directory }: CommandPlace): string => {
  const key = JSON.stringify([directory ?? null, conversation ?? null]);
  return join(recordsDirectory(), `${sha256Hex(key).slice(0, 32)}.json`);
};

/**
 * The commands in the background of a conversation that it does not know the end of, as a private file has them: they outlive the
 * process that runs them. None where there is no file that can be read.
 */
export const readCommandRecords = async (place: CommandPlace): Promise<readonly CommandRecord[]> =>
  z.array(RecordSchema).safeParse(await readStateJson(fileOf(place))).data ?? [];

/** Replaces them. One process writes those of a conversation at a time: the one that has its turn. */
export const writeCommandRecords = async (
  place: CommandPlace,
  records: readonly CommandRecord[],
): Promise<void> => {
  if (records.length === 0) return rm(fileOf(place), { force: true });
  await writeStateJson(fileOf(place), records);
  await keepNewest(recordsDirectory(), maxFiles);
};
