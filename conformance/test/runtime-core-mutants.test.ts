import { coreMutants } from "../mutants/core-mutants.ts";
import { startReferenceCore } from "../mutants/reference-core.ts";
import { describeMutants } from "./mutant-matrix.ts";

describeMutants({
  role: "runtime-core",
  start: startReferenceCore,
  mutants: coreMutants,
  transports: ["unix", "tcp"],
});
