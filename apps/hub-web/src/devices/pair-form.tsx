import { hubPaths, maxDeviceNameLength, PairedDeviceSchema } from "@harnesskit/protocol/hub";
import { useState } from "preact/hooks";
import { Button } from "../parts/controls.tsx";
import { Note } from "../parts/note.tsx";
import { keepAccess } from "../state/access.ts";
import { postJson } from "../state/post-json.ts";
import { useAction } from "../state/use-action.ts";

/** What this device is, as a first name for it. */
const guessedName = (): string =>
  /iPhone|iPad|Android|Mac|Windows|Linux/.exec(navigator.userAgent.replace("Linux; ", ""))?.[0] ?? "Browser";

/** Pairs this browser. Rejects with why it was refused, in words. */
const pairDevice = async (code: string, name: string): Promise<void> => {
  const response = await postJson(hubPaths.pair, { code, name }).catch((cause: unknown) => {
    throw new TypeError("The hub cannot be reached. Try again.", { cause });
  });
  if (!response.ok) throw new RangeError((await response.text()).trim());
  keepAccess(PairedDeviceSchema.parse(await response.json()).token);
};

interface PairFormProps {
  /** The code of the link that was opened. @default it is typed in */
  readonly code?: string | undefined;
}

/** Pairs this browser with the hub that serves the page, and opens the page. */
export function PairForm({ code: given }: PairFormProps) {
  const [code, setCode] = useState(given ?? "");
  const [name, setName] = useState(guessedName);
  const { isBusy, problem, run } = useAction(async () => {
    await pairDevice(code.trim(), name.trim());
    location.reload();
  });
  return (
    <form
      class="lines wide-gap"
      aria-label="Pair this device"
      onSubmit={(event) => {
        event.preventDefault();
        run();
      }}
    >
      <label class="field">
        <span>Pairing code</span>
        <input
          class="input mono"
          value={code}
          required
          placeholder="XXXX-XXXX-XXXX"
          autocomplete="off"
          autocapitalize="characters"
          spellcheck={false}
          readOnly={given !== undefined && problem === undefined}
          onInput={({ currentTarget }) => setCode(currentTarget.value)}
        />
      </label>
      <label class="field">
        <span>Name of this device, unless the hub has one for it</span>
        <input
          class="input"
          value={name}
          required
          maxLength={maxDeviceNameLength}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>
      {problem !== undefined && <Note tone="bad">{problem}</Note>}
      <Button type="submit" look="primary big" disabled={isBusy}>
        Pair this device
      </Button>
    </form>
  );
}

/** What a pairing link opens. */
export function PairPage({ code }: { readonly code: string }) {
  return (
    <main class="signed-out">
      <h1>Pair this device with your hub</h1>
      <p class="dim">
        It will show what your agents ask and do, and answer as far as the hub's owner has said. On an iPhone
        or iPad, first add this page to the home screen, open it there and type the code: only then it can be
        notified.
      </p>
      <PairForm code={code} />
    </main>
  );
}
