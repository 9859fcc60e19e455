import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { identify } from "./file-identity.ts";
import { isMarkedName } from "./hidden-name.ts";
import { type BoundSocket, placeSocket, removeName } from "./place-socket.ts";

/** Younger ones may belong to a server that is just starting and does not answer yet. */
const minAgeMs = 60_000;
const maxLeftovers = 100;

const sweep = async (own: BoundSocket, path: string): Promise<void> => {
  const found = await identify(path);
  if (!found?.isSocket || Date.now() - Number(found.modifiedNs / 1_000_000n) < minAgeMs) return;
  // Taken over like any stale socket, so that nobody who is about to replace it is disturbed.
  await placeSocket(own, path);
  await removeName(path);
};

/**
 * Removes the hidden sockets that servers left in the directory when they were killed in the moment of binding.
 * What cannot be removed stays: it harms nobody.
 */
export const sweepLeftovers = async (own: BoundSocket): Promise<void> => {
  const names = await readdir(own.directory).catch(() => []);
  for (const name of names.filter(isMarkedName).slice(0, maxLeftovers)) {
    await sweep(own, join(own.directory, name)).catch(() => {});
  }
};
