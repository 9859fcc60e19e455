import { describeMutants } from "./mutant-matrix.ts";

describeMutants("chat");
