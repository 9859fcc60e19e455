/** Where a string occurs in another one. */
export interface Occurrences {
  /** How often, overlapping ones included. */
  readonly count: number;
  /** The start of the first one, or -1. */
  readonly first: number;
}

/**
 * Counts `needle`, which is not empty, in `text`. Takes time linear in both whatever they hold (Knuth, Morris, Pratt);
 * `indexOf` in a loop does not.
 */
export function countOccurrences(text: string, needle: string): Occurrences {
  const borders = borderTable(needle);
  let count = 0;
  let first = -1;
  let matched = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    while (matched > 0 && needle.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (needle.charCodeAt(matched) === unit) matched++;
    if (matched < needle.length) continue;
    count++;
    if (first === -1) first = index - needle.length + 1;
    matched = borders[matched - 1] ?? 0;
  }
  return { count, first };
}

/** For each prefix, the length of its longest proper prefix that is also its suffix. */
function borderTable(needle: string): Uint32Array {
  const borders = new Uint32Array(needle.length);
  let border = 0;
  for (let index = 1; index < needle.length; index++) {
    const unit = needle.charCodeAt(index);
    while (border > 0 && needle.charCodeAt(border) !== unit) border = borders[border - 1] ?? 0;
    if (needle.charCodeAt(border) === unit) border++;
    borders[index] = border;
  }
  return borders;
}
