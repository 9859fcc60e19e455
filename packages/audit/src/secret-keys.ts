import { BoundedMap } from "@harnesskit/wire";

const maxRememberedLength = 256;
const words = new Set(
  "password passwords passwd pwd passphrase passcode pin otp secret secrets token authorization cookie cookies credential credentials creds bearer jwt".split(
    " ",
  ),
);

const inside =
  /password|passwd|passphrase|secret|credential|authorization|cookie|api_?key|(?:access|account)_?key|private_?key|signing_?key|encryption_?key|(?:access|auth|refresh|id|session|bearer)_?token|connection_?string/;

/** What is counted or classified is not the secret itself: `token_count`, `max_tokens`, `token_type`. */
const harmless = /(?:^|_)token_(?:count|limit|budget|usage|type)$/;

const toSnakeCase = (key: string): string =>
  key
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_");

const namesSecret = (key: string): boolean => {
  if (key === "auth") return true;
  if (harmless.test(key)) return false;
  return inside.test(key.replace(/tokens/g, "")) || key.split("_").some((word) => words.has(word));
};

/** What was said of recent keys: the entries of one program have few different ones. */
const known = new BoundedMap<string, boolean>({ maxSize: 1024 });

/** Whether the value of a key of this name, however it is spelled, is a secret, whatever it looks like: `api_key`. */
export const isSecretKey = (key: string): boolean => {
  const said = known.get(key);
  if (said !== undefined) return said;
  const isSecret = namesSecret(toSnakeCase(key));
  if (key.length <= maxRememberedLength) known.set(key, isSecret);
  return isSecret;
};
