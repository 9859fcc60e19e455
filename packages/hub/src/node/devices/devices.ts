import { randomBytes } from "node:crypto";
import type { AuditEntryInput } from "@harnesskit/audit";
import { sha256Hex } from "@harnesskit/node-kit";
import type { Device, Pairing, PairingLink, PushSubscription } from "@harnesskit/protocol/hub";
import { type Channel, type Clock, displayText, HarnessError } from "@harnesskit/wire";
import { notAllowed } from "../../api/api-errors.ts";
import type { DeviceDesk } from "../../api/device-rules.ts";
import { isSame } from "../is-same.ts";
import { DeviceFile, type StoredDevice, toDevice } from "./device-file.ts";
import { isSafeOrigin } from "./origins.ts";
import { Pairings } from "./pairings.ts";
import { takesPushes } from "./push-services.ts";

const maxDevices = 50;
/** Revoked ones that are kept, so that a credential of one is known as such. */
const maxRevoked = 50;
const seenEveryMs = 60_000;

export type DeviceRefusal =
  | "pairing_unknown"
  | "pairing_used"
  | "pairing_expired"
  | "device_unknown"
  | "device_revoked"
  | "wrong_origin";

export interface DevicesOptions {
  /** A private file. */
  readonly path: string;
  /** Where devices reach the hub; undefined where only this machine does. */
  readonly origin: string | undefined;
  readonly clock: Clock;
  readonly audit: (
    what: "pair" | "use" | "revoke",
    outcome: "ok" | "refused",
    details: AuditEntryInput["details"],
  ) => void;
  readonly onError: (error: unknown) => void;
}

/** The paired devices of a hub: what each may do, its credential, its connections, and where its pushes go. */
export class Devices implements DeviceDesk {
  readonly #options: DevicesOptions;
  readonly #file: DeviceFile;
  readonly #pairings: Pairings;
  readonly #connections = new Map<string, Set<Channel>>();
  readonly #listeners = new Set<() => void>();

  private constructor(options: DevicesOptions, file: DeviceFile) {
    this.#options = options;
    this.#file = file;
    this.#pairings = new Pairings(options.clock);
  }

  /** Rejects with `insecure_device_file`. */
  static async open(options: DevicesOptions): Promise<Devices> {
    return new Devices(options, await DeviceFile.open(options.path));
  }

  list(): readonly Device[] {
    return this.#file.devices.map((device) => this.#shown(device)).reverse();
  }

  pair(pairing: Pairing): PairingLink {
    const { origin } = this.#options;
    if (origin === undefined || !isSafeOrigin(origin)) {
      const text =
        "no device is paired without TLS: start the hub with the https: URL of your tunnel or proxy as --public-url, or with --tls-cert and --tls-key as well";
      throw notAllowed("tls_required", text);
    }
    if (this.#active().length >= maxDevices)
      throw notAllowed("too_many_devices", `${maxDevices} devices are paired: revoke one of them first`);
    const { code, expiresAtMs } = this.#pairings.open(pairing);
    return { link: `${origin}/#pair=${code}`, code, expiresAtMs };
  }

  /** Pairs the device that shows a code. Its credential is returned once, and only its hash is kept. */
  async redeem(
    { code, name }: { readonly code: string; readonly name: string },
    from: { readonly origin: string | undefined; readonly remote?: string | undefined },
  ): Promise<{ readonly token: string; readonly device: Device } | { readonly refused: DeviceRefusal }> {
    const { origin, clock, audit } = this.#options;
    const refuse = (refused: DeviceRefusal) => {
      audit("pair", "refused", { reason: refused, ...from });
      return { refused };
    };
    if (origin === undefined || from.origin !== origin) return refuse("wrong_origin");
    const pairing = this.#pairings.redeem(code);
    if ("refused" in pairing) return refuse(pairing.refused);
    const secret = randomBytes(32).toString("base64url");
    const device: StoredDevice = {
      ...{ id: `dev_${randomBytes(9).toString("base64url")}`, hash: sha256Hex(secret), origin },
      name: displayText(pairing.name ?? name, { maxLength: 64 }),
      ...{ may: pairing.may, upTo: pairing.upTo },
      ...{ createdAtMs: clock.now(), lastSeenAtMs: clock.now() },
    };
    await this.#file.put(device);
    const { id, may, upTo } = device;
    audit("pair", "ok", { device: id, name: device.name, may, upTo, ...from });
    this.#changed();
    return { token: `device.${id}.${secret}`, device: this.#shown(device) };
  }

  /** The device that a token is of, at an origin. What is refused is in the audit log. */
  admit(token: string, origin: string | undefined): Device | { readonly refused: DeviceRefusal } {
    const [kind, id = "", secret = ""] = token.split(".");
    const device = kind === "device" ? this.#file.get(id) : undefined;
    const refusal = this.#refusal(device, secret, origin);
    if (device !== undefined && refusal === undefined) return this.#shown(device);
    const refused = refusal ?? "device_unknown";
    this.#options.audit("use", "refused", {
      reason: refused,
      device: device?.id,
      name: device?.name,
      origin,
    });
    return { refused };
  }

  #refusal(
    device: StoredDevice | undefined,
    secret: string,
    origin: string | undefined,
  ): DeviceRefusal | undefined {
    if (device === undefined || !isSame(sha256Hex(secret), device.hash)) return "device_unknown";
    if (device.revokedAtMs !== undefined) return "device_revoked";
    return origin === device.origin && origin === this.#options.origin ? undefined : "wrong_origin";
  }

  /** The device behind a ticket that was given to it; undefined once it is revoked. */
  active(id: string): Device | undefined {
    const device = this.#file.get(id);
    return device === undefined || device.revokedAtMs !== undefined ? undefined : this.#shown(device);
  }

  /** Takes note of a connection, which ends when the device is revoked. */
  connected(id: string, channel: Channel): void {
    const open = this.#connections.get(id) ?? new Set();
    this.#connections.set(id, open.add(channel));
    void channel.closed.then(() => {
      open.delete(channel);
      if (open.size === 0 && this.#connections.get(id) === open) this.#connections.delete(id);
    });
    const device = this.#file.get(id);
    const nowMs = this.#options.clock.now();
    if (device === undefined || nowMs - device.lastSeenAtMs < seenEveryMs) return;
    this.#file.put({ ...device, lastSeenAtMs: nowMs }).catch(this.#options.onError);
  }

  async revoke(id: string, by: string): Promise<Device | undefined> {
    const device = this.#file.get(id);
    if (device === undefined) return undefined;
    const { push: _, ...kept } = device;
    const revoked = { ...kept, revokedAtMs: device.revokedAtMs ?? this.#options.clock.now() };
    const old = this.#file.devices.filter((each) => each.revokedAtMs !== undefined && each.id !== id);
    const written = this.#file.put(
      revoked,
      old.slice(0, Math.max(0, old.length + 1 - maxRevoked)).map((each) => each.id),
    );
    const channels = [...(this.#connections.get(id) ?? [])];
    this.#connections.delete(id);
    for (const channel of channels)
      void channel.close(new HarnessError("device_revoked", "the device was revoked"));
    this.#options.audit("revoke", "ok", { device: id, name: device.name, by });
    this.#changed();
    await written;
    return this.#shown(revoked);
  }

  async subscribe(id: string, subscription: PushSubscription | undefined): Promise<Device | undefined> {
    const device = this.#file.get(id);
    if (device === undefined || device.revokedAtMs !== undefined) return undefined;
    if (subscription !== undefined && !takesPushes(subscription.endpoint, device.origin)) {
      const text = "pushes go to the push services of Apple, Google, Microsoft and Mozilla only";
      throw notAllowed("push_refused", text);
    }
    const { push: _, ...rest } = device;
    const changed = subscription === undefined ? rest : { ...rest, push: subscription };
    await this.#file.put(changed);
    this.#changed();
    return this.#shown(changed);
  }

  /** Where pushes go, by device. */
  subscriptions(): ReadonlyMap<string, PushSubscription> {
    return new Map(
      this.#active().flatMap(({ id, push }) => (push === undefined ? [] : [[id, push] as const])),
    );
  }

  /** Calls a function after each change of a device. Returns what ends that. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #active(): readonly StoredDevice[] {
    return this.#file.devices.filter(({ revokedAtMs }) => revokedAtMs === undefined);
  }

  #shown(device: StoredDevice): Device {
    return toDevice(device, this.#connections.has(device.id));
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
