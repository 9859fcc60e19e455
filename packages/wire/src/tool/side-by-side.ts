/** How many calls of one step run at once. */
const maxSideBySide = 8;

/**
 * Makes the calls of one step: those that only read side by side, at most eight; any other one alone, in its place. `make` begins at once for each
 * call, and runs it once `after` has settled (undefined: now). Gives the outcomes in the order of the calls; rejects, once all have
 * settled, as the first that rejected.
 */
export const makeSideBySide = async <Call, Outcome>(
  calls: readonly Call[],
  onlyReads: (call: Call) => boolean,
  make: (call: Call, after: Promise<unknown> | undefined) => Promise<Outcome>,
): Promise<Outcome[]> => {
  const made: Promise<Outcome>[] = [];
  let changed: Promise<unknown> | undefined;
  for (const call of calls) {
    const reads = onlyReads(call);
    const before = reads ? [changed, made.at(-maxSideBySide)] : made;
    const isFree = before.every((each) => each === undefined) || made.length === 0;
    const outcome = make(call, isFree ? undefined : Promise.allSettled(before));
    outcome.catch(() => {});
    made.push(outcome);
    if (!reads) changed = outcome;
  }
  await Promise.allSettled(made);
  return Promise.all(made);
};
