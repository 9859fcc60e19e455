import { type Channel, isMessageStream } from "@harnesskit/wire";
import type { ResponseStream } from "./response-stream.ts";

/** The response, or the last frame of its stream, whose previews are sent before: each when the one before was handed over. */
export const lastAnswer = async (answer: unknown, channel: Pick<Channel, "send">): Promise<unknown> => {
  if (!isMessageStream(answer)) return answer;
  let last: unknown;
  let isRead = true;
  for await (const frame of answer as ResponseStream) {
    if (frame.type === "end") last = frame;
    // A channel that is closed, or refuses a frame, gets no more of them; the response is kept for its request.
    else if (isRead) {
      isRead = await channel.send(frame).then(
        () => true,
        () => false,
      );
    }
  }
  return last;
};
