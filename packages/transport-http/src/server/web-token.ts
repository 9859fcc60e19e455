import { type Authenticate, assertToken, type TokenPrincipal, tokenPrincipal } from "./authenticate.ts";

const hash = async (text: string): Promise<Uint8Array> =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));

/** Looks at every byte, so that the time tells nothing about where two hashes differ. */
const isSame = (one: Uint8Array, other: Uint8Array): boolean => {
  let difference = one.length ^ other.length;
  for (const [index, byte] of one.entries()) difference |= byte ^ (other[index] ?? 0);
  return difference === 0;
};

/**
 * Lets in who shows this token, as a bearer or as an API key. Hashes of both are compared, in constant time. Throws
 * `invalid_argument` for a token below 16 visible ASCII characters.
 */
export const createTokenAuthenticate = (token: string): Authenticate<TokenPrincipal> => {
  assertToken(token);
  const expected = hash(token);
  return async ({ credential }) => {
    if (credential === undefined) return { refused: "unauthorized" };
    const matches = isSame(await expected, await hash(credential.secret));
    return matches ? { principal: tokenPrincipal } : { refused: "unauthorized" };
  };
};
