import { GraphError } from "../errors.ts";
import type { Resolution } from "../invoke-options.ts";
import type { RunEntry, StoredRun } from "../stores/run-store.ts";
import type { RunPlace } from "./journal.ts";

/** The key of the node around a place; undefined for the outermost. */
const aroundKey = (key: string): string | undefined => {
  const end = key.lastIndexOf("/");
  return end < 0 ? undefined : key.slice(0, end);
};

const isWithin = (ended: ReadonlySet<string>, key: string): boolean => {
  for (let around: string | undefined = key; around !== undefined; around = aroundKey(around)) {
    if (ended.has(around)) return true;
  }
  return false;
};

/** The nodes that have begun, in this run, and whose end is not recorded: what they did may have happened or not. */
const ambiguousPlaces = ({ entries }: StoredRun): RunPlace[] => {
  const ended = new Set<string>();
  for (const entry of entries) {
    if (entry.kind === "completed" || entry.kind === "failed") ended.add(entry.key);
  }
  const places = new Map<string, RunPlace>();
  for (const entry of entries) {
    if (entry.kind !== "started" || isWithin(ended, entry.key)) continue;
    places.set(entry.key, { key: entry.key, namespace: entry.namespace });
  }
  return [...places.values()];
};

export const ambiguousError = (runId: string, places: readonly RunPlace[]): GraphError => {
  const [first] = places as readonly [RunPlace];
  const names = places.map(({ namespace }) => namespace.join(" › ")).join(", ");
  const message = `${names} may have done its work before a crash: its end is not recorded, and it is not idempotent`;
  return new GraphError("node_ambiguous", message, {
    nodeName: first.namespace.at(-1) as string,
    namespace: first.namespace,
    data: { run_id: runId, places },
  });
};

/** The effects that have begun and whose end is not recorded. */
const openEffects = ({ entries }: StoredRun): RunPlace[] => {
  const open = new Map<string, RunPlace>();
  for (const entry of entries) {
    if (entry.kind === "effect_started") open.set(entry.key, { key: entry.key, namespace: entry.namespace });
    else if (entry.kind === "effect_done" || entry.kind === "effect_failed") open.delete(entry.key);
  }
  return [...open.values()];
};

/**
 * What its caller knows of ambiguous places, as entries of the run, and the nodes that stay open. Effects that stay open are reported
 * by the node that has them, which may know better.
 */
export const resolveAmbiguous = (
  run: StoredRun,
  resolve: Readonly<Record<string, Resolution>>,
): { readonly resolved: readonly RunEntry[]; readonly open: readonly RunPlace[] } => {
  const resolved: RunEntry[] = [];
  const open: RunPlace[] = [];
  const known = ({ key }: RunPlace) => (Object.hasOwn(resolve, key) ? resolve[key] : undefined);
  for (const place of ambiguousPlaces(run)) {
    const resolution = known(place);
    if (resolution === undefined) open.push(place);
    if (resolution?.kind !== "done") continue;
    resolved.push({ kind: "completed", ...place, step: null, next_step: 0, update: resolution.result });
  }
  for (const place of openEffects(run)) {
    const resolution = known(place);
    if (resolution?.kind === "rerun") resolved.push({ kind: "effect_failed", key: place.key });
    if (resolution?.kind !== "done") continue;
    resolved.push({ kind: "effect_done", key: place.key, result: resolution.result });
  }
  return { resolved, open };
};
