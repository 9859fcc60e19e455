import { configureGlobal, readConfigureGlobal } from "fast-check";
import { isNightly } from "./nightly.ts";

/** A check of a change tries the same cases each time; the nightly run tries new ones. */
const seed = 20_261_125;

if (!isNightly) configureGlobal({ ...readConfigureGlobal(), seed });
