import { formatAge, formatMoment } from "../format.ts";
import { useNow } from "../state/now.ts";

/** How long ago something was, as time goes on; the pointer shows when. */
export function Age({ atMs }: { readonly atMs: number }) {
  return <time title={formatMoment(atMs)}>{formatAge(atMs, useNow())}</time>;
}
