import * as z from "zod";
import { object } from "../fields.ts";
import { IdSchema, TimeMsSchema } from "./values.ts";

export const maxDeviceNameLength = 64;
const DeviceNameSchema = z.string().trim().min(1).max(maxDeviceNameLength);

/**
 * What a device may do. `look`: read; `answer`: answer, and revoke grants. `upTo` bounds what it may answer: an unknown risk counts as high,
 * and its grants are for exactly the call that was asked about. Absent: any risk.
 */
export const DeviceRightsSchema = object(() => ({
  may: z.enum(["look", "answer"]),
  upTo: z.enum(["low", "medium", "high"]).optional(),
}));
export type DeviceRights = z.infer<typeof DeviceRightsSchema>;

/** A browser elsewhere that was paired with the hub: a phone. It has a credential of its own, which holds at one origin. */
export const DeviceSchema = DeviceRightsSchema.extend({
  id: IdSchema,
  name: z.string(),
  origin: z.string(),
  createdAtMs: TimeMsSchema,
  /** When it connected last, to the minute. */
  lastSeenAtMs: TimeMsSchema,
  isConnected: z.boolean(),
  /** Whether it receives pushes. */
  isNotified: z.boolean(),
  /** Its credential is refused since then. */
  revokedAtMs: TimeMsSchema.optional(),
});
export type Device = z.infer<typeof DeviceSchema>;

/** What is asked for a new device. */
export const PairingSchema = DeviceRightsSchema.extend({
  /** @default what the device calls itself */
  name: DeviceNameSchema.optional(),
});
export type Pairing = z.infer<typeof PairingSchema>;

/** The link is valid once, until it expires; its code is in the fragment, and can be typed in where a link cannot be opened. */
export const PairingLinkSchema = object(() => ({
  link: z.string(),
  code: z.string(),
  expiresAtMs: TimeMsSchema,
}));
export type PairingLink = z.infer<typeof PairingLinkSchema>;

/** POST of the page on the device, with the code of its link. */
export const PairRequestSchema = object(() => ({ code: z.string().min(1).max(100), name: DeviceNameSchema }));
/** The device keeps the token in its `localStorage`. */
export const PairedDeviceSchema = object(() => ({ token: z.string(), device: DeviceSchema }));

/** Where a browser's push service takes pushes for a device, and the keys that they are encrypted with (RFC 8030, RFC 8291). */
export const PushSubscriptionSchema = object(() => ({
  endpoint: z.url().max(2000),
  keys: z.object({ p256dh: z.string().min(1).max(200), auth: z.string().min(1).max(100) }),
}));
export type PushSubscription = z.infer<typeof PushSubscriptionSchema>;
