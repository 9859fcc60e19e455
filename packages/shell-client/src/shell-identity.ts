import type { ShellIdentity } from "@harnesskit/protocol/openharness";

/** What a shell is (section 6), with the locale and the time zone of the platform where nothing is said of them. */
export const shellIdentity = (given: ShellIdentity = {}): ShellIdentity => {
  const { locale, timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return { locale, ...(timeZone && { timezone: timeZone }), ...given };
};
