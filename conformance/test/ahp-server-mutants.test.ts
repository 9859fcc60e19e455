import { describeMutants } from "./mutant-matrix.ts";

describeMutants("ahp-server");
