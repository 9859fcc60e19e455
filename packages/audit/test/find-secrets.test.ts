import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findSecrets, redactSecrets } from "../src/find-secrets.ts";

const token = `ghp_${"aB3".repeat(12)}`;

describe("finding secrets in texts", () => {
  it.each([
    ["a token", `use ${token} here`, "token", 4, true],
    ["an access key", "AKIAIOSFODNN7EXAMPLE", "token", 0, true],
    ["a password in a URL", "clone https://me:hunter2@example.com/x", "url", 14, true],
    ["a header", "Authorization: Bearer abc123def456ghi", "header", 15, true],
    ["an assigned key", 'api_key = "q8Zt91Lw0Vb4Kc7Yd2"', "assignment", 10, true],
    [
      "a private key",
      "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
      "private-key",
      0,
      true,
    ],
    ["a word after a name", "password: please", "assignment", 10, false],
    ["a variable after a name", "TOKEN=$OTHER", "assignment", 6, false],
  ] as const)("finds %s", (_, text, kind, at, certain) => {
    expect(findSecrets(text)[0]).toMatchObject({ kind, at, certain });
  });

  it("finds each of several, where they stand", () => {
    const text = `one ${token} and two ${token} and https://u:p4ss@h/ end`;
    const found = findSecrets(text);
    expect(found.map(({ kind }) => kind)).toEqual(["token", "token", "url"]);
    expect(found.slice(0, 2).map(({ at, length }) => text.slice(at, at + length))).toEqual([token, token]);
  });

  it("finds nothing in plain text", () => {
    expect(findSecrets("the tests pass, 3 of 3; see src/index.ts:10")).toEqual([]);
    expect(findSecrets("[redacted]")).toEqual([]);
  });

  it("takes out all of them, or only those that are certain", () => {
    const text = `token: string; key ${token}, password: please`;
    expect(redactSecrets(text)).toBe("token: [redacted]; key [redacted], password: [redacted]");
    expect(redactSecrets(text, { certainOnly: true })).toBe(
      "token: string; key [redacted], password: please",
    );
    expect(redactSecrets("token: string", { certainOnly: true })).toBe("token: string");
  });

  it("names the places that redaction takes out, for any text around", () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^[a-z ,.]{0,60}$/),
        fc.stringMatching(/^[a-z ,.]{0,60}$/),
        (before, after) => {
          const text = `${before} ${token} ${after}`;
          const places = findSecrets(text);
          expect(places.some(({ at, length }) => text.slice(at, at + length) === token)).toBe(true);
          expect(redactSecrets(text)).not.toContain(token);
        },
      ),
    );
  });
});
