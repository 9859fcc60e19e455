import { HarnessError } from "@harnesskit/wire";
import { hasAnswer } from "./read-message.ts";

export interface BoundedFetchOptions {
  /** Characters of one message: of the lines with data of one event of a stream, or of a whole other body. */
  readonly maxMessageBytes: number;
  /** The body of a response broke off, or has a message over the limit that nothing stands for. */
  readonly onBroken: (method: string, error: unknown) => void;
  /** What the reader of a successful response gets in place of a message. @default the message */
  readonly rewrite?: ((message: string) => string) | undefined;
  /** What it gets in place of a message over the limit. @default the body breaks off with `frame_too_large` */
  readonly tooLarge?: (() => string) | undefined;
  /** The answer of a request that has ended without one; empty where none is waited for. @default empty */
  readonly missing?: (() => string) | undefined;
}

type Body = AsyncIterable<Uint8Array>;

async function* chunksOf(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** What is done with the messages of one body. */
interface Messages {
  readonly maxLength: number;
  readonly rewrite: (message: string) => string;
  readonly tooLarge: () => string;
  readonly missing: () => string;
}

/** A whole body as one message. */
async function* rewriteWhole(body: Body, { maxLength, rewrite, tooLarge }: Messages): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length <= maxLength) continue;
    yield tooLarge();
    return;
  }
  yield rewrite(text + decoder.decode());
}

/** The lines of a body, however they end; of a longer one only its beginning. What stands behind the last end is left out. */
async function* linesOf(body: Body, maxLength: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  let isAfterReturn = false;
  for await (const chunk of body) {
    const decoded = decoder.decode(chunk, { stream: true });
    if (decoded === "") continue;
    const text = isAfterReturn && decoded.startsWith("\n") ? decoded.slice(1) : decoded;
    isAfterReturn = decoded.endsWith("\r");
    const [first = "", ...others] = text.split(/\r\n|\n|\r/);
    if (rest.length <= maxLength) rest += first;
    for (const line of others) {
      yield rest;
      rest = line;
    }
  }
}

const dataField = "data:";

/** A body of server-sent events, of which each has one message as its data. Other fields are passed on. */
async function* rewriteEvents(body: Body, messages: Messages): AsyncGenerator<string> {
  const { maxLength, rewrite, tooLarge, missing } = messages;
  let data: string[] = [];
  let length = 0;
  /** What stands for an event that is too large. */
  let instead: string | undefined;
  let isSettled = false;
  for await (const line of linesOf(body, maxLength + dataField.length)) {
    if (line === "data" || line.startsWith(dataField)) {
      // With the name of its field: lines without text add up, too.
      length += line.length;
      if (length <= maxLength) data.push(line.slice(dataField.length).replace(/^ /, ""));
      else instead ??= tooLarge();
    } else if (line !== "") {
      // With an id, the events go on in another stream.
      isSettled ||= line.startsWith("id:");
      yield `${line}\n`;
    } else {
      const text = instead ?? (data.length === 0 ? "" : rewrite(data.join("\n")));
      isSettled ||= hasAnswer(text);
      const lines = text === "" ? [] : text.split("\n").map((part) => `${dataField} ${part}\n`);
      yield `${lines.join("")}\n`;
      data = [];
      length = 0;
      instead = undefined;
    }
  }
  // An event without an end is dropped.
  const answer = isSettled ? "" : missing();
  if (answer !== "") yield `\n\n${dataField} ${answer}\n\n`;
}

/** `fetch` with an end to what one message may take, which reports a body that breaks off. */
export const createBoundedFetch = ({
  maxMessageBytes: maxLength,
  onBroken,
  rewrite = (message) => message,
  tooLarge = () => {
    throw new HarnessError("frame_too_large", `a message exceeds ${maxLength} characters`);
  },
  missing = () => "",
}: BoundedFetchOptions): ((url: string | URL, init?: RequestInit) => Promise<Response>) => {
  const rewritten: Messages = { maxLength, rewrite, tooLarge, missing };
  const untouched: Messages = { maxLength, rewrite: (message) => message, tooLarge, missing: () => "" };
  return async (url, init) => {
    const response = await fetch(url, init);
    const noAnswer = response.status === 202 ? missing() : "";
    if (noAnswer !== "") {
      await response.body?.cancel();
      return new Response(noAnswer, { headers: { "content-type": "application/json" } });
    }
    if (!response.body) return response;
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    const messages = response.ok ? rewritten : untouched;
    const reader = response.body.getReader();
    const texts = (isStream ? rewriteEvents : rewriteWhole)(chunksOf(reader), messages);
    const encoder = new TextEncoder();
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const { done, value } = await texts.next();
          if (isCancelled) return;
          if (done) controller.close();
          else controller.enqueue(encoder.encode(value));
        } catch (error) {
          if (isCancelled || init?.signal?.aborted) return;
          onBroken(init?.method ?? "GET", error);
          controller.error(error);
        }
      },
      cancel(reason) {
        isCancelled = true;
        return reader.cancel(reason);
      },
    });
    const { status, statusText, headers } = response;
    const bounded = new Response(body, { status, statusText, headers });
    return Object.defineProperty(bounded, "url", { value: response.url });
  };
};
