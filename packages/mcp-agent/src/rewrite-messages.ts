import { hasAnswer } from "./read-message.ts";

export interface RewriteOptions {
  readonly maxMessageBytes: number;
  /** Without a message for one that exceeds the limit. */
  readonly rewrite: (message?: string) => string;
  /** The answer at the end of events that had none, and cannot be resumed. */
  readonly missing: () => string;
}

type Controller = TransformStreamDefaultController<Uint8Array>;

const encoder = new TextEncoder();

/** A whole body as one message. */
export const rewriteWhole = ({ maxMessageBytes, rewrite }: RewriteOptions) => {
  const decoder = new TextDecoder();
  let text = "";
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller: Controller) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length <= maxMessageBytes) return;
      controller.enqueue(encoder.encode(rewrite()));
      controller.terminate();
    },
    flush: (controller: Controller) => controller.enqueue(encoder.encode(rewrite(text + decoder.decode()))),
  });
};

const dataField = "data:";

/** A body of server-sent events, of which each has one message as its data. Other fields are passed on. */
export const rewriteEvents = ({ maxMessageBytes, rewrite, missing }: RewriteOptions) => {
  const decoder = new TextDecoder();
  let rest = "";
  let data: string[] = [];
  let length = 0;
  let isSettled = false;
  const take = (line: string, emit: (text: string) => void) => {
    if (line.startsWith(dataField)) {
      length += line.length;
      if (length <= maxMessageBytes) data.push(line.slice(dataField.length).replace(/^ /, ""));
    } else if (line !== "") {
      // With an id, the events go on in another stream.
      isSettled ||= line.startsWith("id:");
      emit(`${line}\n`);
    } else {
      const text = length > maxMessageBytes ? rewrite() : data.length === 0 ? "" : rewrite(data.join("\n"));
      isSettled ||= hasAnswer(text);
      const lines = text === "" ? [] : text.split("\n").map((part) => `${dataField} ${part}\n`);
      emit(`${lines.join("")}\n`);
      data = [];
      length = 0;
    }
  };
  return new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller: Controller) {
      const text = decoder.decode(chunk, { stream: true });
      const end = text.lastIndexOf("\n");
      if (end === -1) rest += text;
      else {
        const lines = (rest + text.slice(0, end)).split("\n");
        rest = text.slice(end + 1);
        for (const line of lines) {
          take(line.replace(/\r$/, ""), (kept) => controller.enqueue(encoder.encode(kept)));
        }
      }
      if (length + rest.length <= maxMessageBytes) return;
      data = [];
      length = maxMessageBytes + 1;
      // Of a line that goes on, only what it is.
      rest = rest.slice(0, dataField.length);
    },
    flush(controller: Controller) {
      const text = isSettled ? "" : missing();
      if (text !== "") controller.enqueue(encoder.encode(`\n\n${dataField} ${text}\n\n`));
    },
  });
};
