/** True in the nightly run, which tries what a check of a change has no time for: every place, new cases, many kills. */
export const isNightly: boolean = process.env.HARNESS_NIGHTLY === "1";

/** How many cases of a property are tried: `count`, and many more in the nightly run. */
export const runs = (count: number): number => (isNightly ? 25 * count : count);
