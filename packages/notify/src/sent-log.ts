import { readFile } from "node:fs/promises";
import { ifPresent, writeFileAtomic } from "@harnesskit/node-kit";
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

const sentLog = (known: readonly string[], keep: (sent: BoundedSet<string>) => Promise<void>): SentLog => {
  const sent = new BoundedSet<string>({ maxSize: maxSent });
  for (const key of known) sent.add(key);
  return {
    has: (key) => sent.has(key),
    add(keys) {
      for (const key of keys) sent.add(key);
      return keep(sent);
    },
  };
};

/** In memory: lives as long as its process. */
export const createSentLog = (): SentLog => sentLog([], async () => {});

/**
 * In a file of one writer, mode 0600; the newest 10,000 keys. A file that cannot be understood counts as empty: then notices of what
 * still waits are sent once more. Rejects as the system does.
 */
export const openSentLog = async (path: string): Promise<SentLog> => {
  const text = await ifPresent(readFile(path, "utf8"));
  let writing = Promise.resolve();
  return sentLog(readKeys(text ?? "[]"), (sent) => {
    const written = writing.then(() => writeFileAtomic(path, JSON.stringify([...sent])));
    writing = written.catch(() => {});
    return written;
  });
};
