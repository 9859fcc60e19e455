import { checkWellFormed, judgeAnthropic, judgeGemini, judgeOpenAi, Refused } from "./rules.ts";

export type ProviderKind = "anthropic" | "gemini" | "openai";

/** Whose API a path belongs to. */
export const kindOf = (path: string): ProviderKind => {
  if (path.includes("/messages")) return "anthropic";
  return path.includes(":streamGenerateContent") ? "gemini" : "openai";
};

/** Says why a provider refuses a request; undefined for one that it takes. */
export const judgeRequest = (
  path: string,
  body: Record<string, unknown>,
  signed: ReadonlySet<unknown> = new Set(),
): string | undefined => {
  try {
    checkWellFormed(body);
    const kind = kindOf(path);
    if (kind === "anthropic") judgeAnthropic(body, signed);
    else if (kind === "gemini") judgeGemini(body, signed);
    else judgeOpenAi(body);
    return undefined;
  } catch (error) {
    if (error instanceof Refused || error instanceof SyntaxError) return error.message;
    throw error;
  }
};
