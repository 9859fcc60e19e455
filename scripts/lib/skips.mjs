/** What a bare machine lacks, as the reasons of skipped tests name it. */
const hidden = /\b(?:python3|chromium|git)\b/;
/** How the reasons begin of tests that act as several users. */
const rootOnly = /^only root\b/;

/**
 * The skips that a run where CI is set does not accept: there, a test should have run. Accepted are those of tests that
 * need what `--bare` hides, and of those that only root can run in a run of another user.
 */
export const unacceptedSkips = (skips, { isBare, isRoot }) =>
  skips.filter(({ reason }) => !(isBare && hidden.test(reason)) && !(!isRoot && rootOnly.test(reason)));

/** True where CI is set: there, nothing is skipped that should run. */
export const isCi = () => !["", "0", "false"].includes(process.env.CI ?? "");
