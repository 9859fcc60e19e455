import { writeFileAtomic } from "@harnesskit/node-kit";
import { type Device, DeviceSchema, IdSchema, PushSubscriptionSchema } from "@harnesskit/protocol/hub";
import { readPrivateFile, unusableFile } from "../private-file.ts";

const maxBytes = 1_000_000;

/** A device as it is kept: of its credential only the hash. */
const StoredDeviceSchema = DeviceSchema.omit({ isConnected: true, isNotified: true }).extend({
  hash: IdSchema,
  push: PushSubscriptionSchema.optional(),
});
export type StoredDevice = ReturnType<typeof StoredDeviceSchema.parse>;

const FileSchema = StoredDeviceSchema.array();

/** As others see it: without the hash, and without the place of its pushes. */
export const toDevice = ({ hash: _, push, ...shown }: StoredDevice, isConnected: boolean): Device => ({
  ...shown,
  isConnected,
  isNotified: push !== undefined,
});

const parse = (path: string, text: string): StoredDevice[] => {
  try {
    return FileSchema.parse(JSON.parse(text));
  } catch {
    const why = "is damaged: remove it, and pair your devices again";
    throw unusableFile("insecure_device_file", path, why);
  }
};

/** The devices of a hub, in a private file of one writer. */
export class DeviceFile {
  readonly #path: string;
  #devices: ReadonlyMap<string, StoredDevice>;
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, devices: readonly StoredDevice[]) {
    this.#path = path;
    this.#devices = new Map(devices.map((device) => [device.id, device]));
  }

  /** Rejects with `insecure_device_file` for a file that others can read, and for a damaged one. */
  static async open(path: string): Promise<DeviceFile> {
    const text = await readPrivateFile(path, maxBytes, "insecure_device_file");
    return new DeviceFile(path, text === undefined ? [] : parse(path, text));
  }

  get devices(): readonly StoredDevice[] {
    return [...this.#devices.values()];
  }

  get(id: string): StoredDevice | undefined {
    return this.#devices.get(id);
  }

  /** Holds at once in this process; settles when it is on the disk. `forget` names those that go. */
  put(device: StoredDevice, forget: readonly string[] = []): Promise<void> {
    const devices = new Map(this.#devices).set(device.id, device);
    for (const id of forget) devices.delete(id);
    this.#devices = devices;
    const written = this.#writing.then(() =>
      writeFileAtomic(this.#path, `${JSON.stringify(this.devices, null, 2)}\n`),
    );
    this.#writing = written.catch(() => {});
    return written;
  }
}
