import { startReferenceShell } from "../mutants/reference-shell.ts";
import { shellMutants } from "../mutants/shell-mutants.ts";
import { describeMutants } from "./mutant-matrix.ts";

describeMutants({
  role: "openharness-shell",
  start: startReferenceShell,
  mutants: shellMutants,
  transports: ["unix", "http"],
});
