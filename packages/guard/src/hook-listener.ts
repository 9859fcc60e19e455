import { createUnixListener, type UnixContext, type UnixListener } from "@harnesskit/transport-uds";
import { type Channel, callSafely } from "@harnesskit/wire";
import { maxTimerMs } from "@harnesskit/wire/time";
import * as z from "zod";
import type { Guard } from "./guard.ts";
import {
  type HookFrame,
  type HookReplyFrame,
  maxHookFrameBytes,
  maxHookPreviewLength,
} from "./hook/hook-frames.ts";
import { checkHookListenerOptions } from "./option-names.ts";

const HookFrameSchema: z.ZodType<HookFrame> = z.object({
  version: z.literal(1),
  id: z.string().min(1).max(100),
  host: z.string().max(100),
  input: z.string(),
  cwd: z.string().max(4096),
  timeoutMs: z.int().min(1).max(maxTimerMs),
  event: z.string().max(200).optional(),
  preview: z.string().max(maxHookPreviewLength).optional(),
  traceparent: z.string().max(200).optional(),
  tracestate: z.string().max(600).optional(),
});

export interface HookListenerOptions {
  readonly guard: Guard;
  /** The path of the socket: mode 0600, in a directory of mode 0700. */
  readonly path: string;
  /** Connections at one time; further ones are closed at once, and their hooks refuse. @default 1024 */
  readonly maxConnections?: number | undefined;
  /** Receives failures of connections. For a log. @default no report */
  readonly onError?: ((error: unknown) => void) | undefined;
}

const invalidFrame: HookReplyFrame = {
  exitCode: 2,
  stdout: "",
  stderr: "harness guard: the hub does not know this form of request: update the hub or the hook's program\n",
};

const serve = (channel: Channel<UnixContext>, { guard, onError }: HookListenerOptions): void => {
  const report = (error: unknown): void => callSafely(() => onError?.(error));
  let isAnswered = false;
  const reply = (answer: HookReplyFrame): Promise<void> =>
    channel.send(answer).then(() => channel.close(), report);
  channel.start({
    async message(message) {
      // One connection is one call.
      if (isAnswered) return;
      isAnswered = true;
      const frame = HookFrameSchema.safeParse(message);
      if (!frame.success) return reply(invalidFrame);
      const request = { ...frame.data, trace: frame.data };
      const { exitCode, stdout, stderr } = await guard.answer(request, channel.signal);
      if (!channel.signal.aborted) await reply({ id: frame.data.id, exitCode, stdout, stderr });
    },
    error(error) {
      report(error);
      if (!isAnswered) void reply(invalidFrame);
      isAnswered = true;
    },
    close() {},
  });
};

/**
 * Serves the hook programs of this user on a Unix socket. `listen` and `close` are those of `createUnixListener` of
 * `@harnesskit/transport-uds`, with its errors; a close ends the hooks that wait, and these refuse.
 */
export const createHookListener = (
  options: HookListenerOptions,
): Omit<UnixListener, "listen"> & { listen(): Promise<void> } => {
  checkHookListenerOptions(options);
  const { path, maxConnections } = options;
  const listener = createUnixListener({
    path,
    framing: "newline",
    maxFrameBytes: maxHookFrameBytes,
    maxConnections,
    onError: (error) => callSafely(() => options.onError?.(error)),
  });
  return {
    get endpoint() {
      return listener.endpoint;
    },
    get connections() {
      return listener.connections;
    },
    listen: () => listener.listen((channel) => serve(channel, options)),
    close: () => listener.close(),
  };
};
