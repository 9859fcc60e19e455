export {
  isPlainObject,
  jsonLength,
  maxJsonDepth,
  maxMessageDepth,
  utf8Length,
} from "@harnesskit/protocol/base";
export { canonicalJson, digest } from "./canonical-json.ts";
export { markNumbers, quoteRoundedNumbers, roundedNumber, unmarkNumbers } from "./exact-numbers.ts";
export {
  copyJson,
  type Defined,
  defined,
  freezeJson,
  isObject,
  JsonError,
  jsonProblem,
  measureJson,
} from "./json.ts";
export { jsonDifference } from "./json-difference.ts";
export { hasRepeatedNames, memberNames } from "./json-scan.ts";
export { fromTextKey, JsonWriter, toTextKey } from "./stored-text.ts";
