import { readFile } from "node:fs/promises";
import { isMissing, writeFileAtomic } from "@harnesskit/node-kit";
import { BoundedSet } from "@harnesskit/wire";

/** Which notices were delivered, so that a restart does not send them again. */
export interface SentLog {
  has(key: string): boolean;
  /** Resolves when they are kept. */
  add(keys: readonly string[]): Promise<void>;
}

const maxSent = 10_000;

const readKeys = (text: string): string[] => {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value.filter((key) => typeof key === "string") : [];
  } catch {
    return [];
  }
};

/** In memory: lives as long as its process. */
export const createSentLog = (): SentLog => {
  const sent = new BoundedSet<string>({ maxSize: maxSent });
  return {
    has: (key) => sent.has(key),
    async add(keys) {
      for (const key of keys) sent.add(key);
    },
  };
};

/**
 * In a file of one writer, mode 0600; the newest 10,000 keys. A file that cannot be understood counts as empty: then notices of what
 * still waits are sent once more. Rejects as the system does.
 */
export const openSentLog = async (path: string): Promise<SentLog> => {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (isMissing(error)) return "[]";
    throw error;
  });
  const sent = new BoundedSet<string>({ maxSize: maxSent });
  for (const key of readKeys(text)) sent.add(key);
  let writing = Promise.resolve();
  return {
    has: (key) => sent.has(key),
    add(keys) {
      for (const key of keys) sent.add(key);
      const written = writing.then(() => writeFileAtomic(path, JSON.stringify([...sent])));
      writing = written.catch(() => {});
      return written;
    },
  };
};
