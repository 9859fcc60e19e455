import { safeText } from "./values.ts";

const texts: Readonly<Record<string, string>> = {
  engine_unreachable: "The engine cannot be reached.",
  response_timeout: "The engine did not answer in time.",
  unauthorized: "The engine does not know this token. Open a new link.",
  forbidden: "The engine does not allow this.",
  invalid_response: "What came back was no answer that can be used. Nothing of it was carried out.",
  protocol_version_unsupported: "The engine and this page do not speak the same version of the protocol.",
  cancelled: "You stopped this.",
  engine_timeout: "The engine took too long.",
  engine_overloaded: "The engine has too much to do.",
  unsendable: "This is too long to be sent.",
};

/** An error in a sentence for people: of its code, else what the engine wrote. */
export const errorText = (code: string, message: string | undefined): string => {
  if (Object.hasOwn(texts, code)) return texts[code] ?? "";
  return message === undefined || message === "" ? "It failed." : safeText(message, 2_000);
};
