import { digest, InvalidArgumentError, invalidParams } from "@harnesskit/wire";

/** What makes a request safe to send again: its `clientRequestId`, and the digest of what was asked with it. */
export interface RequestName {
  readonly clientRequestId: string;
  readonly requestDigest: string;
}

/**
 * What a `clientRequestId` is bound to: the method and everything else that was asked. Throws -32602 for params without a canonical form,
 * such as half of a surrogate pair.
 */
export const requestDigest = async (
  method: string,
  params: { clientRequestId?: string | undefined },
): Promise<string> => {
  const { clientRequestId: _id, ...payload } = params;
  try {
    return await digest({ method, payload });
  } catch (error) {
    throw InvalidArgumentError.isInstance(error) ? invalidParams(error.message) : error;
  }
};

/** The name of a request; undefined where the client gave it none. Throws as `requestDigest`. */
export const nameRequest = async (
  method: string,
  params: { clientRequestId?: string | undefined },
): Promise<RequestName | undefined> => {
  const { clientRequestId } = params;
  if (clientRequestId === undefined) return undefined;
  return { clientRequestId, requestDigest: await requestDigest(method, params) };
};
