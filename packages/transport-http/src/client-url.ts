import { InvalidArgumentError } from "@harnesskit/wire";

/** A URL to connect to, and the form of it that errors may show. */
export interface ClientUrl {
  readonly url: URL;
  /** Without query, which may hold a secret. */
  readonly endpoint: string;
}

/**
 * Reads a URL with one of these schemes. Throws `invalid_argument` for any other text, and for a user name, a
 * password or a fragment in it; the message does not repeat the URL, which may hold a secret.
 */
export const toClientUrl = (text: string | URL, schemes: readonly string[]): ClientUrl => {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new InvalidArgumentError("url must be an absolute URL");
  }
  if (!schemes.includes(url.protocol)) {
    throw new InvalidArgumentError(
      `the URL begins with ${schemes.map((scheme) => `${scheme}//`).join(" or ")}`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new InvalidArgumentError("a URL holds no user name and password: pass credentials");
  }
  if (url.hash !== "") throw new InvalidArgumentError("a URL to connect to has no fragment");
  return { url, endpoint: `${url.protocol}//${url.host}${url.pathname}` };
};
