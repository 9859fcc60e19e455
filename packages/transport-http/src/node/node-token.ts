import { hash as digest, timingSafeEqual } from "node:crypto";
import {
  type Authenticate,
  assertToken,
  type TokenPrincipal,
  tokenPrincipal,
} from "../server/authenticate.ts";

/** A secret of at most so many bytes is compared itself; others by their hashes. */
const paddedBytes = 256;
const lengthAt = paddedBytes;

const hash = (text: string): Buffer => digest("sha256", text, "buffer");

/** Writes the secret into the bytes, with zeros behind it and its length at the end. False where it is too long. */
const pad = (bytes: Buffer, secret: string): boolean => {
  // The longest that UTF-8 makes of a UTF-16 unit.
  if (secret.length * 3 > paddedBytes) return false;
  bytes.fill(0);
  bytes.writeUInt32BE(bytes.write(secret), lengthAt);
  return true;
};

/** Lets in who shows this token. It is compared in constant time, whatever the length. Throws `invalid_argument`. */
export const createNodeTokenAuthenticate = (token: string): Authenticate<TokenPrincipal> => {
  assertToken(token);
  const expected = Buffer.alloc(paddedBytes + 4);
  const shown = Buffer.alloc(paddedBytes + 4);
  const isPadded = pad(expected, token);
  const expectedHash = hash(token);
  const isToken = (secret: string): boolean =>
    isPadded && pad(shown, secret)
      ? timingSafeEqual(expected, shown)
      : timingSafeEqual(expectedHash, hash(secret));
  return ({ credential }) =>
    credential !== undefined && isToken(credential.secret)
      ? { principal: tokenPrincipal }
      : { refused: "unauthorized" };
};
