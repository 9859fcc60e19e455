export {
  type MediaPlace,
  type ModelOutput,
  mediaPlaceAt,
  type ResultPart,
  toModelOutput,
} from "./model-output.ts";
export { type ModelEnding, noAnswerReason, roundedInputReason } from "./no-answer.ts";
export { type ProviderError, readProviderError } from "./provider-error.ts";
export {
  bytesOfBase64,
  mediaOf,
  nameMediaInText,
  outputInText,
  replaceMedia,
  type ToolMedia,
} from "./tool-media.ts";
export { type StreamingModel, watchRetries } from "./watch-retries.ts";
