/** What stands in the place of a secret. */
export const redactedPlaceholder = "[redacted]";

// None of these expressions goes back over what it has read more than a few characters, so that a hostile text costs no
// more than its length.

/** Tokens that are known by how they begin, whatever stands before them. */
const tokens =
  /gh[a-z]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{12,}|(?:xox[a-z]|xapp)-[\w-]{8,}|AIza[\w-]{24,}|ya29\.[\w.-]{12,}|npm_[A-Za-z0-9]{24,}|pypi-[\w-]{24,}|hf_[A-Za-z0-9]{20,}|dop_v1_[a-f0-9]{24,}|SG\.[\w-]{12,}(?:\.[\w-]*)?|eyJ[\w-]{10,}(?:\.[\w-]*)*/g;

/** Tokens whose beginning is an end of common words: `task-…`. */
const tokensAtBorder =
  /(?<![A-Za-z0-9])(?:(?:sk|rk|pk)[-_][A-Za-z0-9_-]{12,}|A(?:KIA|SIA|BIA|CCA|ROA|IDA)[A-Z0-9]{16})/g;

const privateKeys =
  /-----BEGIN[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g;

/** Headers whose whole value is secret: everything up to the end of the line. */
const headers = /(authorization|cookie)(["']?\s{0,8}[:=]\s{0,8})[^\r\n]+/gi;

const schemes = /\b(Bearer|Basic|Digest|Negotiate)(?:\s+|%20|\+)["']?[\w.~+/=%-]{6,}/gi;

/** `https://user:password@host`, and a token in the place of the user. */
const userInfo = /:\/\/[^\s/?#"'<>]+@/g;

/** `password=…`, `"api_key": "…"`, `?token=…`: the name stays. */
const assignments =
  /((?:password|passwd|passphrase|pwd|secret|token|api[-_ ]?key|(?:access|account)[-_]?key|private[-_]?key|credentials?)["']?\s{0,8}(?:=|:|%3[dD])\s{0,8})("[^"]*"?|'[^']*'?|[^\s"'&,;]+)/gi;

/** More than letters, digits and `_-./,`, or the beginning of a token: one is in each string with one of the above. */
const special = /[^\w./,-]/;
/** Of a token that `special` does not find: `xapp-` and eight characters. */
const shortestToken = 13;
const beginnings =
  /[srp]k[-_]|gh[a-z]_|github_|glpat-|xox|xapp-|AIza|ya29|A[A-Z]{2}A|npm_|pypi-|hf_|dop_|SG\.|eyJ/;

/** Whether a string is an ordinary name or id: letters, digits and `_-./,`, without the shape of a secret. False tells nothing. */
export const isPlainName = (text: string): boolean =>
  !special.test(text) && (text.length < shortestToken || !beginnings.test(text));

/** The string without what has the shape of a secret: `[redacted]` stands in its place. The same string where nothing has. */
export const withoutSecretShapes = (text: string): string => (isPlainName(text) ? text : withoutShapes(text));

const withoutShapes = (text: string): string =>
  text
    .replace(privateKeys, redactedPlaceholder)
    .replace(userInfo, `://${redactedPlaceholder}@`)
    .replace(headers, `$1$2${redactedPlaceholder}`)
    .replace(schemes, `$1 ${redactedPlaceholder}`)
    .replace(tokens, redactedPlaceholder)
    .replace(tokensAtBorder, redactedPlaceholder)
    .replace(assignments, (match, name: string, value: string, offset: number, whole: string) =>
      value.startsWith(redactedPlaceholder) ||
      namesDirectory(match, whole.slice(Math.max(0, offset - 4), offset))
        ? match
        : `${name}${redactedPlaceholder}`,
    );

/** `PWD` and `OLDPWD` of an environment hold directories; `MYSQL_PWD` does not. */
const namesDirectory = (match: string, before: string): boolean =>
  match.startsWith("PWD=/") && /(?:^|[^A-Za-z0-9_]|(?:^|[^A-Za-z0-9_])OLD)$/.test(before);
