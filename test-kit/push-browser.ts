import { createDecipheriv, createECDH, hkdfSync, randomBytes } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

/** A browser that takes pushes: its subscription's keys, and how it decrypts what comes (RFC 8291, RFC 8188). */
const createBrowser = () => {
  const ecdh = createECDH("prime256v1");
  const publicKey = ecdh.generateKeys();
  const auth = randomBytes(16);
  return {
    keys: { p256dh: publicKey.toString("base64url"), auth: auth.toString("base64url") },
    /** The text of the one record that a push is. */
    decrypt(body: Buffer): string {
      const salt = body.subarray(0, 16);
      const keyLength = body.readUInt8(20);
      const sender = body.subarray(21, 21 + keyLength);
      const sealed = body.subarray(21 + keyLength);
      const info = Buffer.concat([Buffer.from("WebPush: info\0"), publicKey, sender]);
      const secret = Buffer.from(hkdfSync("sha256", ecdh.computeSecret(sender), auth, info, 32));
      const derive = (name: string, length: number) =>
        Buffer.from(hkdfSync("sha256", secret, salt, `Content-Encoding: ${name}\0`, length));
      const decipher = createDecipheriv("aes-128-gcm", derive("aes128gcm", 16), derive("nonce", 12));
      decipher.setAuthTag(sealed.subarray(-16));
      const text = Buffer.concat([decipher.update(sealed.subarray(0, -16)), decipher.final()]);
      // Behind the text: the mark of the last record, and padding.
      return text.subarray(0, text.lastIndexOf(2)).toString("utf8");
    },
  };
};

export interface ReceivedPush {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** What the browser reads. */
  readonly text: string;
}

/** A push service over HTTP, with one browser that is subscribed to it, until the test is finished. */
export const startPushService = async () => {
  const browser = createBrowser();
  const received: ReceivedPush[] = [];
  const answer = { status: 201 };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts);
      received.push({ headers: request.headers, body, text: browser.decrypt(body) });
      response.writeHead(answer.status).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve())));
  const { port } = server.address() as AddressInfo;
  const subscription = { endpoint: `http://127.0.0.1:${port}/push/1`, keys: browser.keys };
  return {
    received,
    subscription,
    /** Says from now on that there is no such subscription. */
    forget: () => {
      answer.status = 410;
    },
  };
};
