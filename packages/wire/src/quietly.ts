import { isThenable } from "./thenable.ts";

/**
 * Calls somebody who is only told. What the call throws, and what the promise that it may return is rejected with, goes to
 * `onFailure`, once; what that does in turn is ignored. Never throws, and leaves no rejection behind.
 */
export const quietly = (tell: () => unknown, onFailure?: (cause: unknown) => unknown): void => {
  const failed = (cause: unknown): void => {
    if (onFailure) quietly(() => onFailure(cause));
  };
  try {
    const told = tell();
    if (isThenable(told)) told.then(undefined, failed);
  } catch (cause) {
    failed(cause);
  }
};
