import { dirname } from "node:path";
import { createFileAtomic, ifPresent, makeDirectory, readOwnFile } from "@harnesskit/node-kit";
import webPush from "web-push";
import * as z from "zod";
import { NotifyError } from "./notify-error.ts";

const PushKeysSchema = z.object({ publicKey: z.string().min(1), privateKey: z.string().min(1) });
/** The keys by which push services know a sender (VAPID, RFC 8292), in base64url. Subscriptions are bound to the public one. */
export type PushKeys = z.infer<typeof PushKeysSchema>;

const maxBytes = 10_000;

const parse = (text: string): PushKeys => {
  try {
    return PushKeysSchema.parse(JSON.parse(text));
  } catch {
    throw new NotifyError(
      "invalid_config",
      "the file of the push keys is damaged: remove it, and ask for pushes again",
      {
        isFinal: true,
      },
    );
  }
};

/** The keys of a private file, or new ones, which are written there with mode 0600. Rejects with `unsafe_file` and `invalid_config`. */
export const openPushKeys = async (path: string): Promise<PushKeys> => {
  const found = await ifPresent(readOwnFile(path, { maxBytes }));
  if (found !== undefined) return parse(found.toString("utf8"));
  await makeDirectory(dirname(path));
  // Of two programs that make some at once, one's stay.
  await createFileAtomic(path, `${JSON.stringify(webPush.generateVAPIDKeys())}\n`);
  return parse((await readOwnFile(path, { maxBytes })).toString("utf8"));
};
