import { execFile } from "node:child_process";
import { performance } from "node:perf_hooks";
import { promisify } from "node:util";

/** How long an empty program takes on a quiet machine. */
const quietMs = 80;
const most = 12;

/** How much slower than a quiet machine this one is now, from 1 to 12: other programs take processor time, and leases must last longer. */
export const slowness = async () => {
  const begin = performance.now();
  await promisify(execFile)(process.execPath, ["-e", "0"]);
  return Math.min(most, Math.max(1, Math.round((performance.now() - begin) / quietMs)));
};
