import type { Device, Pairing, PairingLink } from "@harnesskit/protocol/hub";
import { useState } from "preact/hooks";
import { formatAge, formatSpan, line } from "../format.ts";
import { RevokeDialog, useRevoking } from "../pages/revoking.tsx";
import { useLoaded } from "../pages/use-loaded.ts";
import { Select } from "../parts/controls.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Empty } from "../parts/empty.tsx";
import { Note } from "../parts/note.tsx";
import { SafeText } from "../parts/safe-text.tsx";
import { failureText } from "../state/failures.ts";
import type { HubLink } from "../state/hub-link.ts";
import { useNow } from "../state/now.ts";
import { QrCode } from "./qr-code.tsx";
import { rightsText } from "./rights.ts";

const rights = [
  ["answer", "answer everything"],
  ["high", "answer up to a high risk"],
  ["medium", "answer up to a medium risk"],
  ["low", "answer a low risk"],
  ["look", "look, and answer nothing"],
] as const;
type Right = (typeof rights)[number][0];

const pairingOf = (right: Right, name: string): Pairing => ({
  name: name.trim() === "" ? undefined : name.trim(),
  ...(right === "look" || right === "answer" ? { may: right } : { may: "answer", upTo: right }),
});

const seenText = ({ isConnected, lastSeenAtMs, revokedAtMs }: Device, nowMs: number): string => {
  if (revokedAtMs !== undefined) return `revoked ${formatAge(revokedAtMs, nowMs)}`;
  return isConnected ? "connected" : `seen ${formatAge(lastSeenAtMs, nowMs)}`;
};

interface DeviceCardProps {
  readonly device: Device;
  readonly nowMs: number;
  readonly onRevoke: (() => void) | undefined;
}

function DeviceCard({ device, nowMs, onRevoke }: DeviceCardProps) {
  return (
    <li class={`panel grant ${device.revokedAtMs === undefined ? "" : "over"}`}>
      <header class="panel-head">
        <strong>
          <SafeText text={line(device.name, 64)} />
        </strong>
        <span class="dim small">{seenText(device, nowMs)}</span>
        {onRevoke !== undefined && (
          <button type="button" class="button refuse compact" onClick={onRevoke}>
            Revoke …
          </button>
        )}
      </header>
      <p>
        {rightsText(device)}
        {device.isNotified ? "; is notified" : ""}
      </p>
      <p class="dim small">
        Paired {formatAge(device.createdAtMs, nowMs)}, at {line(device.origin, 300)}
      </p>
    </li>
  );
}

/** Pairs a device: a link that works once, as a QR code. */
function PairDevice({ link, onClose }: { readonly link: HubLink; readonly onClose: () => void }) {
  const nowMs = useNow();
  const [name, setName] = useState("");
  const [right, setRight] = useState<Right>("answer");
  const [pairing, setPairing] = useState<PairingLink>();
  const [problem, setProblem] = useState<string>();
  const pair = async () => {
    try {
      setPairing(await link.client.call("devices.pair", pairingOf(right, name)));
      setProblem(undefined);
    } catch (error) {
      setProblem(failureText(error));
    }
  };
  const leftMs = (pairing?.expiresAtMs ?? 0) - nowMs;
  return (
    <Dialog
      title="Pair a device"
      onClose={onClose}
      footer={
        <>
          <button type="button" class="button primary" onClick={() => void pair()}>
            {pairing === undefined ? "Show the code" : "Show another code"}
          </button>
          <button type="button" class="button quiet" onClick={onClose}>
            {pairing === undefined ? "Cancel" : "Done"}
          </button>
        </>
      }
    >
      {pairing !== undefined ? (
        <div class="pairing">
          <QrCode text={pairing.link} label="The pairing link, as a QR code" />
          <p class="mono pairing-code">{pairing.code}</p>
          <p role="status">
            {leftMs > 0
              ? `Scan it with the device, or open ${new URL(pairing.link).origin} there and type the code. It pairs one device, in the next ${formatSpan(leftMs)}.`
              : "This code is too old."}
          </p>
        </div>
      ) : (
        <>
          <label class="field">
            <span>Name</span>
            <input
              class="input"
              value={name}
              maxLength={64}
              placeholder="what the device calls itself"
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          </label>
          <label class="field" for="pair-right">
            <span>It may</span>
            <Select id="pair-right" value={right} options={rights} onChange={setRight} />
          </label>
        </>
      )}
      {problem !== undefined && <Note tone="bad">{problem}</Note>}
    </Dialog>
  );
}

/** The devices that were paired with the hub; each can be revoked. */
export function DevicesPage({ link }: { readonly link: HubLink }) {
  const nowMs = useNow();
  const { value, problem, reload } = useLoaded(link, () => link.client.call("devices.list"));
  const [isPairing, setPairing] = useState(false);
  const revoking = useRevoking<Device>(({ id }) => link.client.call("devices.revoke", { id: id }), reload);
  const devices = value?.devices ?? [];
  return (
    <main class="page">
      <header class="page-head">
        <h1>Devices</h1>
        <p class="dim">
          Phones and browsers elsewhere that may use this hub, each with a credential of its own.
        </p>
        <button type="button" class="button primary" onClick={() => setPairing(true)}>
          Pair a device …
        </button>
      </header>
      {problem !== undefined && <Note tone="bad">The devices cannot be read: {problem}</Note>}
      {revoking.failure !== undefined && (
        <Note tone="bad">The device was not revoked: {revoking.failure}</Note>
      )}
      {value !== undefined && devices.length === 0 && (
        <Empty icon="phone" title="No device is paired yet">
          <p>Pair your phone to answer your agents from wherever you are.</p>
        </Empty>
      )}
      <ul class="stack" aria-label="Devices">
        {devices.map((device) => (
          <DeviceCard
            key={device.id}
            device={device}
            nowMs={nowMs}
            onRevoke={device.revokedAtMs === undefined ? () => revoking.ask(device) : undefined}
          />
        ))}
      </ul>
      {isPairing && (
        <PairDevice
          link={link}
          onClose={() => {
            setPairing(false);
            reload();
          }}
        />
      )}
      {revoking.item !== undefined && (
        <RevokeDialog
          title={`Revoke ${line(revoking.item.name, 64)}?`}
          onRevoke={revoking.confirm}
          onCancel={revoking.cancel}
        >
          <p>
            Its connections end at once, and it must be paired again. What it has answered stays answered.
          </p>
        </RevokeDialog>
      )}
    </main>
  );
}

/** What a device sees of itself. */
export function ThisDevicePage({ link, device }: { readonly link: HubLink; readonly device: Device }) {
  const nowMs = useNow();
  const signOut = () => void link.client.call("devices.revoke", { id: device.id }).catch(() => {});
  return (
    <main class="page">
      <header class="page-head">
        <h1>This device</h1>
        <p class="dim">Other devices are paired and revoked on the hub's machine.</p>
      </header>
      <ul class="stack" aria-label="Devices">
        <DeviceCard device={{ ...device, isConnected: true }} nowMs={nowMs} onRevoke={undefined} />
      </ul>
      <button type="button" class="button refuse" onClick={signOut}>
        Sign this device out
      </button>
    </main>
  );
}
