import type { StateStore } from "@harnesskit/ahp-server";
import { type CopyCount, conflict, lost, sameJson } from "./copy-count.ts";

/** Copies the records of one AHP server's runs behind those that an interrupted copy has left. */
export const copyRunState = async (name: string, from: StateStore, to: StateStore): Promise<CopyCount> => {
  const there = [...to.load()];
  let [total, copied] = [0, 0];
  for (const record of from.load()) {
    const found = there[total++];
    if (found === undefined) {
      to.append(record);
      copied++;
      // What waits for the database is bounded.
      if (copied % 100 === 0) await to.kept?.();
    } else if (!sameJson(found, record)) throw conflict("the state of runs", name);
  }
  if (there.length > total) throw conflict("the state of runs", name);
  await to.kept?.();
  return { total, copied };
};

/** Throws `copy_failed` unless both have the same records. Returns how many. */
export const verifyRunState = async (name: string, from: StateStore, to: StateStore): Promise<number> => {
  const [one, other] = [[...from.load()], [...to.load()]];
  if (!sameJson(one, other)) throw lost("the state of runs", name);
  return one.length;
};
