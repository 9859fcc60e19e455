import { describeMutants } from "./mutant-matrix.ts";

describeMutants("threads-server");
