export { type CreateModelOptions, createModel, type Environment } from "./create-model.ts";
export { ModelError, type ModelErrorCode } from "./model-error.ts";
export {
  type ModelReference,
  type ModelSpec,
  parseModelSpec,
  toModelReference,
  toModelSpec,
} from "./model-spec.ts";
