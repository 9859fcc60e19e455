import { digest } from "@harnesskit/wire";

/** What a `clientRequestId` is bound to: the method and everything else that was asked. */
export const requestDigest = (
  method: string,
  params: { clientRequestId?: string | undefined },
): Promise<string> => {
  const { clientRequestId: _id, ...payload } = params;
  return digest({ method, payload });
};
