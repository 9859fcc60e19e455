import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ifPresent, readOwnFile, writeFileAtomic } from "@harnesskit/node-kit";

const maxBytes = 10_000;
const placeIn = (directory: string): string => join(directory, "policy-file");

/** The policy's file that the hub of a state directory had last; undefined where that was the shipped one. Rejects as the system does. */
export const formerPolicyOf = async (directory: string): Promise<string | undefined> => {
  const kept = await ifPresent(readOwnFile(placeIn(directory), { maxBytes }));
  return kept?.toString("utf8").trim();
};

/** Keeps the absolute path of the policy's file that a hub was started with; `default` is kept as none. Rejects as the system does. */
export const keepPolicyName = async (directory: string, file: string): Promise<void> => {
  if (file === "default") await rm(placeIn(directory), { force: true });
  else await writeFileAtomic(placeIn(directory), `${file}\n`);
};
