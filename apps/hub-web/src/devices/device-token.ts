import { hubPaths, maxDeviceNameLength, PairedDeviceSchema } from "@harnesskit/protocol/hub";

const storageKey = "harness-hub-device";

/** The credential of this browser, where it was paired. */
export const deviceToken = (): string | undefined => localStorage.getItem(storageKey) ?? undefined;

export const isDeviceToken = (token: string): boolean => token.startsWith("device.");

export const forgetDevice = (): void => localStorage.removeItem(storageKey);

/** Takes `#pair=…` out of the address bar. */
export const takePairingCode = (): string | undefined => {
  const match = /^#pair=([\w-]+)$/.exec(location.hash);
  if (match === null) return undefined;
  history.replaceState(null, "", location.pathname);
  return match[1];
};

const systems: readonly (readonly [RegExp, string])[] = [
  [/iPhone/, "iPhone"],
  [/iPad/, "iPad"],
  [/Android.*Mobile/, "Android phone"],
  [/Android/, "Android tablet"],
  [/Macintosh/, "Mac"],
  [/Windows/, "Windows computer"],
  [/Linux/, "Linux computer"],
];

/** What this device is, as a first name for it. */
export const guessedName = (): string =>
  (systems.find(([pattern]) => pattern.test(navigator.userAgent))?.[1] ?? "Browser").slice(
    0,
    maxDeviceNameLength,
  );

/** Pairs this browser. Rejects with why it was refused, in words. */
export const pairDevice = async (code: string, name: string): Promise<void> => {
  const response = await fetch(hubPaths.pair, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code, name }),
  }).catch((cause: unknown) => {
    throw new TypeError("The hub cannot be reached. Try again.", { cause });
  });
  if (!response.ok) throw new RangeError((await response.text()).trim());
  localStorage.setItem(storageKey, PairedDeviceSchema.parse(await response.json()).token);
};
