import { digest } from "@harnesskit/wire";

/** What makes a request safe to send again: its `clientRequestId`, and the digest of what was asked with it. */
export interface RequestName {
  readonly clientRequestId: string;
  readonly requestDigest: string;
}

/** What a `clientRequestId` is bound to: the method and everything else that was asked. */
export const requestDigest = (
  method: string,
  params: { clientRequestId?: string | undefined },
): Promise<string> => {
  const { clientRequestId: _id, ...payload } = params;
  return digest({ method, payload });
};

/** The name of a request; undefined where the client gave it none. */
export const nameRequest = async (
  method: string,
  params: { clientRequestId?: string | undefined },
): Promise<RequestName | undefined> => {
  const { clientRequestId } = params;
  if (clientRequestId === undefined) return undefined;
  return { clientRequestId, requestDigest: await requestDigest(method, params) };
};
