import { startReferenceRuntimeAgent } from "../mutants/reference-runtime-agent.ts";
import { runtimeAgentMutants } from "../mutants/runtime-agent-mutants.ts";
import { describeMutants } from "./mutant-matrix.ts";

describeMutants({
  role: "runtime-agent",
  start: startReferenceRuntimeAgent,
  mutants: runtimeAgentMutants,
  transports: ["unix", "tcp"],
});
