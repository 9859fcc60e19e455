import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { inject } from "vitest";
import type {} from "./postgres-setup.ts";

/** The URL of the PostgreSQL server of the run, which starts with the first file of tests that imports this. */
export const postgresUrl = await text(connect(inject("postgresSocket")));
if (postgresUrl === "") throw new ReferenceError("PostgreSQL did not start: see above");
