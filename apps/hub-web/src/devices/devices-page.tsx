import type { Device } from "@harnesskit/protocol/hub";
import { useState } from "preact/hooks";
import { line } from "../format.ts";
import { Age } from "../parts/age.tsx";
import { Button } from "../parts/controls.tsx";
import { Empty } from "../parts/empty.tsx";
import { Page } from "../parts/page.tsx";
import { type Allowed, AllowedCard, AllowedList } from "../parts/revocable.tsx";
import { Line } from "../parts/safe-text.tsx";
import { useApp } from "../state/app.ts";
import { useRead } from "../state/use-read.ts";
import { PairDevice } from "./pair-device.tsx";
import { rightsText } from "./rights.ts";

/** A device as its card shows it. */
const toAllowed = (device: Device): Allowed => ({
  id: device.id,
  title: (
    <strong>
      <Line text={device.name} max={64} />
    </strong>
  ),
  when: device.isConnected ? (
    "connected"
  ) : (
    <>
      {device.revokedAtMs === undefined ? "seen" : "revoked"}{" "}
      <Age atMs={device.revokedAtMs ?? device.lastSeenAtMs} />
    </>
  ),
  isOver: device.revokedAtMs !== undefined,
  text: (
    <p>
      {rightsText(device)}
      {device.isNotified ? "; is notified" : ""}
    </p>
  ),
  foot: (
    <>
      Paired <Age atMs={device.createdAtMs} />, at {line(device.origin, 300)}
    </>
  ),
});

/** The devices that were paired with the hub; each can be revoked. */
export function DevicesPage() {
  const { client } = useApp().link;
  const { value, problem, reload } = useRead(() => client.call("devices.list"));
  const [isPairing, setPairing] = useState(false);
  const closePairing = () => {
    setPairing(false);
    reload();
  };
  const head = (
    <>
      <p class="dim">
        Phones and browsers elsewhere that may use this hub, each with a credential of its own.
      </p>
      <Button look="primary" onClick={() => setPairing(true)}>
        Pair a device …
      </Button>
    </>
  );
  return (
    <Page title="Devices" head={head} what="devices" problem={problem} isLoading={value === undefined}>
      {value?.devices.length === 0 && (
        <Empty icon="phone" title="No device is paired yet">
          <p>Pair your phone to answer your agents from wherever you are.</p>
        </Empty>
      )}
      <AllowedList
        label="Devices"
        items={(value?.devices ?? []).map(toAllowed)}
        what="device"
        consequence="Its connections end at once, and it must be paired again. What it has answered stays answered."
        revoke={(id) => client.call("devices.revoke", { id })}
        reload={reload}
      />
      {isPairing && <PairDevice onClose={closePairing} />}
    </Page>
  );
}

/** What a device sees of itself. */
export function ThisDevicePage({ device }: { readonly device: Device }) {
  const { client } = useApp().link;
  const signOut = () => void client.call("devices.revoke", { id: device.id }).catch(() => {});
  return (
    <Page
      title="This device"
      head={<p class="dim">Other devices are paired and revoked on the hub's machine.</p>}
    >
      <ul class="lines wide-gap" aria-label="Devices">
        <AllowedCard item={toAllowed({ ...device, isConnected: true })} />
      </ul>
      <Button look="refuse" onClick={signOut}>
        Sign this device out
      </Button>
    </Page>
  );
}
