import { headlineOf, itemLines, type Notice, restLines } from "../notice.ts";
import { NotifyError } from "../notify-error.ts";
import type { DeliveryContext } from "./post.ts";

export interface EmailTarget {
  /** A mail server: `smtps:` or `smtp:`, with user and password where it needs them. */
  readonly url: string;
  readonly from: string;
  readonly to: readonly string[];
}

/** After so long a silence a connection is closed, in milliseconds; the attempt itself has the notifier's `timeoutMs`. */
const silenceMs = 10_000;

const loadMailer = async (): Promise<typeof import("nodemailer")> => {
  try {
    return await import("nodemailer");
  } catch (cause) {
    const message = "e-mail needs the package nodemailer: npm install nodemailer";
    throw new NotifyError("target_unreachable", message, { cause, isFinal: true });
  }
};

/** A password in the clear is for this machine only: elsewhere the server must offer STARTTLS. */
const isLocal = (url: string): boolean => ["127.0.0.1", "localhost", "[::1]"].includes(new URL(url).hostname);

/**
 * Sends a message by SMTP. Rejects with `target_refused` (final for a 5xx answer and for a password that is refused),
 * `target_unreachable` and `target_timeout`; no message holds the address.
 */
export const sendEmail = async (
  notice: Notice,
  { url, from, to }: EmailTarget,
  { signal }: Pick<DeliveryContext, "signal">,
): Promise<void> => {
  const mailer = await loadMailer();
  const transport = mailer.createTransport({
    url,
    requireTLS: !isLocal(url),
    connectionTimeout: silenceMs,
    greetingTimeout: silenceMs,
    socketTimeout: silenceMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const aborted = new Promise<never>((_, reject) => {
    const fail = () => reject(new NotifyError("target_timeout", "it did not answer in time"));
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
  try {
    await Promise.race([
      aborted,
      transport.sendMail({
        from,
        to: [...to],
        subject: headlineOf(notice),
        date: new Date(notice.atMs),
        messageId: `<${notice.id}@harness.invalid>`,
        headers: { "Auto-Submitted": "auto-generated" },
        textEncoding: "base64",
        text: [...notice.items.flatMap((item) => [...itemLines(item), ""]), ...restLines(notice)].join("\n"),
      }),
    ]);
  } catch (error) {
    throw NotifyError.isInstance(error) ? error : mailFailure(error);
  } finally {
    transport.close();
  }
};

const mailFailure = (error: unknown): NotifyError => {
  const { responseCode, code } = error as { readonly responseCode?: number; readonly code?: string };
  if (responseCode === undefined && code !== "EAUTH")
    return new NotifyError(
      "target_unreachable",
      `it cannot be reached${code === undefined ? "" : ` (${code})`}`,
    );
  const answer = responseCode === undefined ? "no login" : String(responseCode);
  return new NotifyError("target_refused", `it answered with ${answer}`, { isFinal: answer.startsWith("5") });
};
