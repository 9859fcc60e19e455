import { configureGlobal, readConfigureGlobal } from "fast-check";

/** A check of a change tries the same cases each time; `npm run properties` tries new ones. */
const seed = 20_261_125;

if (process.env.HARNESS_PROPERTIES !== "random") configureGlobal({ ...readConfigureGlobal(), seed });
