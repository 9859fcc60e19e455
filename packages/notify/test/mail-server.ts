import { type AddressInfo, createServer } from "node:net";
import { SMTPServer } from "smtp-server";
import { onTestFinished } from "vitest";

export interface ReceivedMail {
  readonly to: readonly string[];
  readonly text: string;
}

const failure = (responseCode: number) => Object.assign(new Error("no"), { responseCode });

/** A mail server with the user `ada`: `right` is the password, `busy` gets 454. A silent one takes connections and says nothing. */
export const startMailServer = async ({ isSilent = false } = {}) => {
  const received: ReceivedMail[] = [];
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS"],
    onAuth({ password }, _session, done) {
      if (password === "right") done(null, { user: "ada" });
      else done(failure(password === "busy" ? 454 : 535));
    },
    onData(stream, { envelope }, done) {
      let text = "";
      stream.on("data", (chunk) => {
        text += String(chunk);
      });
      stream.on("end", () => {
        received.push({ to: envelope.rcptTo.map(({ address }) => address), text });
        done();
      });
    },
  });
  const silent = createServer((socket) => onTestFinished(() => void socket.destroy()));
  const server = isSilent ? silent : smtp.server;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(
    () => new Promise<void>((resolve) => (isSilent ? silent.close(() => resolve()) : smtp.close(resolve))),
  );
  return { received, port: (server.address() as AddressInfo).port };
};
