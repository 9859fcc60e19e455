import { HarnessError } from "@harnesskit/wire";

/**
 * - `settings_link`: a file of a project is a link that leads out of it;
 * - `settings_read_only`, `settings_not_own`: the file must not be changed by this user, or is another's;
 * - `settings_changed`: another program has changed the file since it was read;
 * - `settings_busy`: another process of this user is at the settings;
 * - `settings_unreadable`: the file cannot be read, is not a regular file or is too large;
 * - `records_unreadable`: what was installed is not known, because its record cannot be read.
 */
export type SettingsErrorCode =
  | "settings_link"
  | "settings_read_only"
  | "settings_not_own"
  | "settings_changed"
  | "settings_busy"
  | "settings_unreadable"
  | "records_unreadable";

/** A settings file is left as it is, and why. */
export class SettingsError extends HarnessError<SettingsErrorCode> {
  static override readonly brand = "SettingsError";
}
