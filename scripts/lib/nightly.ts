/** True in the nightly run, which tries what a check of a change has no time for: every place, new cases, many kills. */
export const isNightly: boolean = process.env.HARNESS_NIGHTLY === "1";
