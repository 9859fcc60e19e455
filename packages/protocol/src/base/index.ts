export { JsonRpcErrorCode } from "./error-codes.ts";
export { jsonLength } from "./json-length.ts";
export {
  isObject,
  isPlainObject,
  type JsonProblem,
  type JsonWalkOptions,
  maxJsonDepth,
  maxMessageDepth,
  utf8Length,
  walkJson,
} from "./json-walk.ts";
