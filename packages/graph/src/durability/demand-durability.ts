import { InvalidArgumentError } from "@harnesskit/wire";
import type { Durability } from "../compile-options.ts";

/** The durability of a graph. Throws `invalid_argument` for an unknown one, and for `node` without a store. */
export const demandDurability = (durability: Durability = "suspend", hasStore: boolean): Durability => {
  if (durability !== "suspend" && durability !== "node") {
    throw new InvalidArgumentError(
      `durability must be "suspend" or "node", got ${JSON.stringify(durability)}`,
    );
  }
  if (durability === "node" && !hasStore) {
    throw new InvalidArgumentError('durability "node" needs a store: compile({ store })');
  }
  return durability;
};
