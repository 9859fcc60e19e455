import { InvalidArgumentError } from "@harnesskit/wire";

/** Throws `invalid_argument` unless each is a whole number from 1. */
export const assertCounts = (options: Readonly<Record<string, number>>): void => {
  for (const [name, value] of Object.entries(options)) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new InvalidArgumentError(`${name} is a whole number from 1`);
    }
  }
};

/** Throws `invalid_argument` unless each is a time that can be waited. */
export const assertTimes = (options: Readonly<Record<string, number>>): void => {
  for (const [name, value] of Object.entries(options)) {
    if (!(value > 0)) throw new InvalidArgumentError(`${name} is a number above 0`);
  }
};

/** Throws `invalid_argument` unless it is a path as a request line has it: from a slash, without query and spaces. */
export const assertPath = (path: string): void => {
  if (/^\/[\x21-\x22\x24-\x3e\x40-\x7e]*$/.test(path)) return;
  throw new InvalidArgumentError(
    `a path begins with a slash and holds no query, fragment or space: ${JSON.stringify(path)}`,
  );
};
