import { startReferenceThreadClient } from "../mutants/reference-thread-client.ts";
import { threadClientMutants } from "../mutants/thread-client-mutants.ts";
import { describeMutants } from "./mutant-matrix.ts";

describeMutants({
  role: "threads-client",
  start: startReferenceThreadClient,
  mutants: threadClientMutants,
  transports: ["unix"],
});
