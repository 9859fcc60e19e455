import { agentMutants } from "../mutants/agent-mutants.ts";
import { startReferenceAgent } from "../mutants/reference-agent.ts";
import { describeMutants } from "./mutant-matrix.ts";

describeMutants({
  role: "ahp-client",
  start: startReferenceAgent,
  mutants: agentMutants,
  transports: ["unix", "http", "ws"],
});
