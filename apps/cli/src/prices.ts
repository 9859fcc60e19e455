import { readFile } from "node:fs/promises";
import { type ModelPrices, modelPrices } from "@harnesskit/models";
import * as z from "zod";
import { usageError } from "./cli-error.ts";
import { fromHere, io } from "./io.ts";
import { oneLine } from "./terminal/text.ts";

const price = z.number().nonnegative();
const PricesSchema = z.record(
  z.string(),
  z.strictObject({ input: price, output: price, cacheRead: price.optional(), cacheWrite: price.optional() }),
);

/** Reads `{ "MODEL": { "input": 3, "output": 15, "cacheRead": 0.3, "cacheWrite": 3.75 } }`: dollars for a million tokens. */
const readPrices = async (file: string): Promise<ModelPrices> => {
  try {
    return PricesSchema.parse(JSON.parse(await readFile(fromHere(file), "utf8")));
  } catch (error) {
    const why =
      error instanceof z.ZodError
        ? `${error.issues[0]?.path.join(".")}: ${error.issues[0]?.message}`
        : (error as Error).message;
    throw usageError(
      `the prices in ${oneLine(file, 300)} cannot be read: ${oneLine(why, 300)}`,
      'Write {"MODEL": {"input": 3, "output": 15, "cacheRead": 0.3}}, in US dollars for a million tokens',
    );
  }
};

/** The prices of the file in `$HARNESS_PRICES`, else those that `@harnesskit/models` has. Rejects with a usage error. */
export const pricesOf = async (): Promise<ModelPrices> => {
  const file = io().env.HARNESS_PRICES;
  return file ? readPrices(file) : modelPrices;
};
