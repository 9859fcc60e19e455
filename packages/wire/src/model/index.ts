export { ModelFailure, type ModelFailureCode, toModelFailure } from "./model-failure.ts";
export { type MediaPlace, type ModelOutput, mediaPlaceOf, toModelOutput } from "./model-output.ts";
export { noAnswerReason } from "./no-answer.ts";
export { askTwice, type ModelAnswer, notAnObject, readAnswer, readStream } from "./read-answer.ts";
export {
  bytesOfBase64,
  mediaOf,
  nameMediaInText,
  outputInText,
  replaceMedia,
  type ToolMedia,
} from "./tool-media.ts";
export { watchRetries } from "./watch-retries.ts";
