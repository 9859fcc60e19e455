/** How far two names are apart: letters changed, added, left out or swapped, up to 3. */
const distance = (from: string, to: string): number => {
  if (Math.abs(from.length - to.length) > 2) return 3;
  let [older, row]: [number[], number[]] = [[], Array.from({ length: to.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const isSame = from[i - 1] === to[j - 1];
      let cost = Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + (isSame ? 0 : 1));
      if (i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1])
        cost = Math.min(cost, (older[j - 2] ?? 0) + 1);
      next.push(cost);
    }
    [older, row] = [row, next];
  }
  return row[to.length] ?? 3;
};

/** Names the one that was probably meant; undefined where none is near. */
export const didYouMean = (name: string, names: readonly string[]): string | undefined => {
  const most = name.length > 4 ? 2 : 1;
  const near = names.find((each) => distance(name.toLowerCase(), each.toLowerCase()) <= most);
  return near === undefined ? undefined : `did you mean "${near}"?`;
};
