import { canonicalJson } from "@harnesskit/wire";

/** Whether two texts of JSON say the same. */
export const isSameJson = (one: string, other: string): boolean => {
  if (one === other) return true;
  try {
    return canonicalJson(JSON.parse(one)) === canonicalJson(JSON.parse(other));
  } catch {
    return false;
  }
};
