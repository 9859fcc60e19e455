import { ThreadStoreError } from "./errors.ts";

/** Lets through what is a file's name everywhere and never a way out. Throws `store_failed`. */
export const checkArtifactName = (name: string): void => {
  if (/^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/.test(name)) return;
  throw new ThreadStoreError("store_failed", "The name of the artifact is not valid");
};

/** The artifact of an output that its item keeps a part of. */
export const outputArtifact = (toolItemId: string): string => `${toolItemId}-output.json`;
