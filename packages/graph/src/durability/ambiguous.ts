import { GraphError } from "../errors.ts";
import type { Resolution } from "../invoke-options.ts";
import type { RunEntry, StoredRun } from "../stores/run-store.ts";
import type { RunPlace } from "./journal.ts";

/** Whether one of these places is this one, or around it. */
const isWithin = (places: ReadonlySet<string>, key: string): boolean => {
  if (places.has(key)) return true;
  const end = key.lastIndexOf("/");
  return end > 0 && isWithin(places, key.slice(0, end));
};

export const ambiguousError = (runId: string, places: readonly RunPlace[]): GraphError => {
  const names = places.map(({ namespace }) => namespace.join(" › ")).join(", ");
  const message = `${names} may have done its work before a crash: its end is not recorded, and it is not idempotent`;
  return new GraphError("node_ambiguous", message, {
    nodeName: places[0]?.namespace.at(-1),
    namespace: places[0]?.namespace,
    data: { run_id: runId, places },
  });
};

/**
 * What its caller knows of ambiguous places, as entries of the run, and the nodes that stay open: they have begun, and whether they did
 * their work is not known. Effects that stay open are reported by the node that has them, which may know better.
 */
export const resolveAmbiguous = (
  { entries }: StoredRun,
  resolve: Readonly<Record<string, Resolution>>,
): { readonly resolved: readonly RunEntry[]; readonly open: readonly RunPlace[] } => {
  const ended = new Set<string>();
  const nodes = new Map<string, RunPlace>();
  const effects = new Set<string>();
  for (const entry of entries) {
    if (entry.kind === "completed" || entry.kind === "failed") ended.add(entry.key);
    else if (entry.kind === "started") nodes.set(entry.key, { key: entry.key, namespace: entry.namespace });
    else if (entry.kind === "effect_started") effects.add(entry.key);
    else if (entry.kind !== "saved") effects.delete(entry.key);
  }
  const known = (key: string) => (Object.hasOwn(resolve, key) ? resolve[key] : undefined);
  const resolved: RunEntry[] = [];
  const open: RunPlace[] = [];
  for (const [key, place] of nodes) {
    if (isWithin(ended, key)) continue;
    const resolution = known(key);
    if (resolution === undefined) open.push(place);
    if (resolution?.kind !== "done") continue;
    resolved.push({ kind: "completed", ...place, step: null, next_step: 0, update: resolution.result });
  }
  for (const key of effects) {
    const resolution = known(key);
    if (resolution?.kind === "rerun") resolved.push({ kind: "effect_failed", key });
    if (resolution?.kind === "done") resolved.push({ kind: "effect_done", key, result: resolution.result });
  }
  return { resolved, open };
};
