import { ModelError } from "./model-error.ts";

/** A parsed model spec. */
export type ModelSpec =
  | { readonly provider: "offline" }
  | { readonly provider: "anthropic" | "openai"; readonly model: string }
  | { readonly provider: "openai-compatible"; readonly baseURL: string; readonly model: string };

/** A model as the thread protocol names it, in the `model` field of `turn.start`. */
export interface ModelReference {
  readonly providerID: string;
  readonly modelID: string;
}

/** The longest spec that is looked at, in UTF-16 code units. */
const maxModelSpecChars = 2_048;

const forms = "offline, anthropic:MODEL, openai:MODEL, openai-compatible:URL#MODEL";

/**
 * Parses a model spec: `offline`, `anthropic:MODEL`, `openai:MODEL` or `openai-compatible:URL#MODEL`.
 *
 * The URL is the base that `/chat/completions` is appended to (for Ollama `http://127.0.0.1:11434/v1`): http or
 * https, without credentials and without a query.
 *
 * @throws ModelError `model.unknown` for any other string. The message does not repeat it, because
 *   a key pasted into the wrong place would be shown.
 */
export function parseModelSpec(spec: string): ModelSpec {
  if (typeof spec !== "string" || spec.length > maxModelSpecChars) {
    throw unknown(`a model spec is a string of at most ${maxModelSpecChars} characters`);
  }
  const text = spec.trim();
  if (text === "offline") return { provider: "offline" };
  const colon = text.indexOf(":");
  if (colon < 0) throw unknown("the model has no provider in front");
  const provider = text.slice(0, colon);
  const rest = text.slice(colon + 1);
  switch (provider) {
    case "offline":
      if (rest !== "planner") throw unknown("the offline provider has one model, planner");
      return { provider };
    case "anthropic":
    case "openai":
      return { provider, model: modelName(rest) };
    case "openai-compatible": {
      const hash = rest.indexOf("#");
      if (hash < 0) throw unknown("an openai-compatible spec needs the model after a #");
      return { provider, baseURL: baseAddress(rest.slice(0, hash)), model: modelName(rest.slice(hash + 1)) };
    }
    default:
      // Letters and hyphens only: a key has digits, so this cannot be one.
      throw unknown(
        /^[a-z-]{1,24}$/i.test(provider)
          ? `the provider ${provider} is not known`
          : "the provider is not known",
      );
  }
}

/**
 * Turns the thread protocol's model reference into a spec: `{ providerID: "offline", modelID: "planner" }` gives
 * `offline`, `{ providerID: "anthropic", modelID: "m" }` gives `anthropic:m`, and for `openai-compatible` the
 * modelID is `URL#MODEL`.
 *
 * @throws ModelError `model.unknown` if the reference names no model that {@link parseModelSpec} knows.
 */
export function toModelSpec({ providerID, modelID }: ModelReference): string {
  if (providerID.includes(":")) throw unknown("a provider's name holds no colon");
  return formatModelSpec(parseModelSpec(`${providerID}:${modelID}`));
}

/**
 * The way back: the reference of a spec, for the `model` field of `turn.start`.
 *
 * @throws ModelError `model.unknown` as {@link parseModelSpec} does.
 */
export function toModelReference(spec: string): ModelReference {
  const parsed = parseModelSpec(spec);
  if (parsed.provider === "offline") return { providerID: "offline", modelID: "planner" };
  const modelID =
    parsed.provider === "openai-compatible" ? `${parsed.baseURL}#${parsed.model}` : parsed.model;
  return { providerID: parsed.provider, modelID };
}

function formatModelSpec(spec: ModelSpec): string {
  if (spec.provider === "offline") return "offline";
  if (spec.provider === "openai-compatible") return `${spec.provider}:${spec.baseURL}#${spec.model}`;
  return `${spec.provider}:${spec.model}`;
}

function modelName(text: string): string {
  if (text === "") throw unknown("the model name is missing");
  if (/[\s\p{Cc}\p{Cf}]/u.test(text)) throw unknown("a model name holds no spaces and no control characters");
  return text;
}

function baseAddress(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    // The parser's error repeats the URL, which may hold a password: it is not kept as a cause.
    throw unknown("the URL of an openai-compatible spec cannot be parsed");
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") throw unknown("the URL must be http or https");
  if (url.username !== "" || url.password !== "") {
    throw unknown("the URL must hold no credentials: put the key into OPENAI_COMPATIBLE_API_KEY");
  }
  if (url.search !== "" || text.includes("?")) throw unknown("the URL must have no query");
  return url.href.replace(/\/+$/, "");
}

function unknown(reason: string): ModelError {
  return new ModelError("model.unknown", `${reason}; a model is written as one of: ${forms}`);
}
