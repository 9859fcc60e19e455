import { harnessMutants } from "../mutants/harness-mutants.ts";
import { serveReferenceHarness } from "../mutants/serve-harness.ts";
import { describeMutants } from "./mutant-matrix.ts";

describeMutants({
  role: "ahp-server",
  start: serveReferenceHarness,
  mutants: harnessMutants,
  transports: ["unix", "http", "ws"],
});
