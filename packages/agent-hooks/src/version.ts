import type { Host } from "./host.ts";

const numbers = (version: string): readonly number[] =>
  (/\d+(?:\.\d+)*/.exec(version)?.[0] ?? "").split(".").map(Number);

const isOlder = (version: string, than: string): boolean => {
  const [own, other] = [numbers(version), numbers(than)];
  for (const [index, wanted] of other.entries()) {
    const difference = (own[index] ?? 0) - wanted;
    if (difference !== 0) return difference < 0;
  }
  return false;
};

/**
 * Why a host of this version is not protected by its hooks, in a line; undefined where it is new enough, or where no minimum is known. Takes
 * a version such as "2.1.332"; what stands behind the numbers is not compared.
 */
export const versionProblem = ({ name, minimum }: Host, version: string): string | undefined =>
  minimum && isOlder(version, minimum.version)
    ? `NOT PROTECTED: ${name} ${version} is older than ${minimum.version}: ${minimum.reason}. Update it`
    : undefined;
