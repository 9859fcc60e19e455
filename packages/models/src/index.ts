export { type CreateModelOptions, createModel, type Environment } from "./create-model.ts";
export { ModelError, type ModelErrorCode } from "./model-error.ts";
export { costOf, type ModelPrice, type ModelPrices, modelPrices, type TokenCounts } from "./model-prices.ts";
export {
  type ModelReference,
  type ModelSpec,
  parseModelSpec,
  toModelReference,
  toModelSpec,
} from "./model-spec.ts";
