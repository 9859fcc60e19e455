import { config } from "zod";

/** From now on schemas are interpreted: to compile one costs more than the few messages of one command gain by it. */
export const interpretSchemas = (): void => void config({ jitless: true });
