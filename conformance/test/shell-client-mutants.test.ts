import { describeMutants } from "./mutant-matrix.ts";

describeMutants("openharness-shell");
