import type { Pairing, PairingLink } from "@harnesskit/protocol/hub";
import { useState } from "preact/hooks";
import { formatSpan } from "../format.ts";
import { Button, Select } from "../parts/controls.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Note } from "../parts/note.tsx";
import { useApp } from "../state/app.ts";
import { useNow } from "../state/now.ts";
import { useAction } from "../state/use-action.ts";
import { QrCode } from "./qr-code.tsx";

const rights = [
  ["answer", "answer everything"],
  ["high", "answer up to a high risk"],
  ["medium", "answer up to a medium risk"],
  ["low", "answer a low risk"],
  ["look", "look, and answer nothing"],
] as const;
type Right = (typeof rights)[number][0];

const pairingOf = (right: Right, name: string): Pairing => ({
  name: name.trim() || undefined,
  ...(right === "look" || right === "answer" ? { may: right } : { may: "answer", upTo: right }),
});

/** Pairs a device: a link that works once, as a QR code. */
export function PairDevice({ onClose }: { readonly onClose: () => void }) {
  const { client } = useApp().link;
  const nowMs = useNow();
  const [name, setName] = useState("");
  const [right, setRight] = useState<Right>("answer");
  const [pairing, setPairing] = useState<PairingLink>();
  const { problem, run } = useAction(async () =>
    setPairing(await client.call("devices.pair", pairingOf(right, name))),
  );
  const leftMs = (pairing?.expiresAtMs ?? 0) - nowMs;
  const isShown = pairing !== undefined;
  return (
    <Dialog
      title="Pair a device"
      onClose={onClose}
      close={isShown ? "Done" : "Cancel"}
      actions={
        <Button look="primary" onClick={() => run()}>
          {isShown ? "Show another code" : "Show the code"}
        </Button>
      }
    >
      {isShown ? (
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
          <Select label="It may" isLabelled value={right} options={rights} onChange={setRight} />
        </>
      )}
      {problem !== undefined && <Note tone="bad">{problem}</Note>}
    </Dialog>
  );
}
