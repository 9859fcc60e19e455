import { InvalidArgumentError } from "@harnesskit/wire";

/** Throws `invalid_argument` unless it is a path as a request line has it: from a slash, without query and spaces. */
export const assertPath = (path: string): void => {
  if (/^\/[\x21-\x22\x24-\x3e\x40-\x7e]*$/.test(path)) return;
  throw new InvalidArgumentError(
    `a path begins with a slash and holds no query, fragment or space: ${JSON.stringify(path)}`,
  );
};
