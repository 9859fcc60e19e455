import { engineMutants } from "../mutants/engine-mutants.ts";
import { serveReferenceEngine } from "../mutants/serve-engine.ts";
import { describeMutants } from "./mutant-matrix.ts";

describeMutants({
  role: "openharness-engine",
  start: serveReferenceEngine,
  mutants: engineMutants,
  transports: ["unix", "http"],
});
