import { describeMutants } from "./mutant-matrix.ts";

describeMutants("runtime-core");
