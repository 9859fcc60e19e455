import type { Channel } from "@harnesskit/wire";

/**
 * Standard input and output as a channel. From here on nothing but the protocol reaches standard output, whatever the
 * rest prints when it is loaded. A server that `outlives` who started it does not mind that its output is read no more.
 */
export const openStdio = async ({ outlives }: { readonly outlives: boolean }): Promise<Channel> => {
  if (outlives) ignoreLostReader();
  const { createStdioChannel } = await import("@harnesskit/transport-stdio");
  return createStdioChannel({ watchParent: !outlives });
};

/** The end of the reader of standard output is not the end of this process. */
export const ignoreLostReader = (): void => {
  process.stdout.removeAllListeners("error").on("error", () => {});
};
