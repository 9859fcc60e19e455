export { contentParts } from "./content-parts.ts";
export { type MediaPlace, type ModelOutput, mediaPlaceAt, toModelOutput } from "./model-output.ts";
export { noAnswerReason, roundedInputReason } from "./no-answer.ts";
export { type ProviderError, readProviderError } from "./provider-error.ts";
export {
  bytesOfBase64,
  mediaOf,
  nameMediaInText,
  outputInText,
  replaceMedia,
  type ToolMedia,
} from "./tool-media.ts";
export { watchRetries } from "./watch-retries.ts";
