import { startReferenceThreads } from "../mutants/reference-threads.ts";
import { threadsMutants } from "../mutants/threads-mutants.ts";
import { describeMutants } from "./mutant-matrix.ts";

describeMutants({
  role: "threads-server",
  start: startReferenceThreads,
  mutants: threadsMutants,
  transports: ["unix"],
});
