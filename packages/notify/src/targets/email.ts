import { spawn } from "node:child_process";
import { headlineOf, itemLines, type Notice, restLines } from "../notice.ts";
import { NotifyError } from "../notify-error.ts";
import type { DeliveryContext } from "./post.ts";

export interface EmailTarget {
  readonly command: readonly string[];
  readonly from: string;
  readonly to: readonly string[];
}

/** Base64 in lines of 76 characters, so that no character of the body means anything to a mail server. */
const base64Lines = (text: string): string =>
  (
    Buffer.from(text, "utf8")
      .toString("base64")
      .match(/.{1,76}/g) ?? []
  ).join("\r\n");

/** A message as RFC 5322 and RFC 2045 say. Headers hold only checked addresses and the headline, which is ASCII. */
const emailMessage = (notice: Notice, { from, to }: EmailTarget): string => {
  const body = [...notice.items.flatMap((item) => [...itemLines(item), ""]), ...restLines(notice)].join(
    "\r\n",
  );
  return [
    `From: ${from}`,
    `To: ${to.join(", ")}`,
    `Subject: ${headlineOf(notice)}`,
    `Date: ${new Date(notice.atMs).toUTCString().replace("GMT", "+0000")}`,
    `Message-ID: <${notice.id}@harness.invalid>`,
    "Auto-Submitted: auto-generated",
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: base64",
    "",
    base64Lines(body),
    "",
  ].join("\r\n");
};

/** Runs the command with a message on its standard input. Rejects with `target_refused`, `target_unreachable` and `target_timeout`. */
export const sendEmail = (
  notice: Notice,
  target: EmailTarget,
  { signal }: Pick<DeliveryContext, "signal">,
): Promise<void> =>
  new Promise((resolve, reject) => {
    const [program = "", ...args] = target.command;
    const child = spawn(program, args, {
      stdio: ["pipe", "ignore", "ignore"],
      signal,
      killSignal: "SIGKILL",
    });
    const fail = (error: NotifyError): void =>
      reject(signal.aborted ? new NotifyError("target_timeout", "its command did not end in time") : error);
    child.once("error", ({ code }: NodeJS.ErrnoException) => {
      const message = `its command cannot be run (${code})`;
      fail(new NotifyError("target_unreachable", message, { isFinal: true }));
    });
    child.once("exit", (code, killedBy) => {
      if (code === 0) resolve();
      else fail(new NotifyError("target_refused", `its command ended with ${killedBy ?? `code ${code}`}`));
    });
    // A command that ends before it has read all says so by its code.
    child.stdin.on("error", () => {});
    child.stdin.end(emailMessage(notice, target));
  });
