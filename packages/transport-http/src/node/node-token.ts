import { hash as digest, timingSafeEqual } from "node:crypto";
import { type Authenticate, assertToken, type TokenPrincipal } from "../server/authenticate.ts";

const hash = (text: string): Buffer => digest("sha256", text, "buffer");

/** Lets in who shows this token. Hashes of both are compared, in constant time. Throws `invalid_argument`. */
export const createNodeTokenAuthenticate = (token: string): Authenticate<TokenPrincipal> => {
  assertToken(token);
  const expected = hash(token);
  return ({ credential }) =>
    credential !== undefined && timingSafeEqual(expected, hash(credential.secret))
      ? { principal: { kind: "token" } }
      : { refused: "unauthorized" };
};
