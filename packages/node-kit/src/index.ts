export { createFileAtomic, temporaryName, writeFileAtomic } from "./atomic-file.ts";
export type { WritableFileSystem } from "./file-system.ts";
export { makeDirectory, makeDirectorySync } from "./make-directory.ts";
export { type OpenOwnFileOptions, openOwnFile } from "./open-own-file.ts";
export { isAlive, isGone, type ProcessIdentity, processStart } from "./process-identity.ts";
export { type ReadOwnFileOptions, readOwnFile } from "./read-own-file.ts";
export { syncDirectory } from "./sync-directory.ts";
export { isExisting, isMissing, systemErrorCode } from "./system-error.ts";
export { UnsafeFileError, type UnsafeFileReason } from "./unsafe-file-error.ts";
