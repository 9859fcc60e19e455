export {
  createFileAtomic,
  type FileText,
  removeTemporaries,
  temporaryName,
  writeFileAtomic,
} from "./atomic-file.ts";
export {
  acquireFileLock,
  type FileLock,
  FileLockError,
  type FileLockOptions,
  type FileLockOwner,
  isLockOwnerDead,
  readFileLock,
} from "./file-lock.ts";
export type { WritableFileSystem } from "./file-system.ts";
export { isInside } from "./is-inside.ts";
export { JournalError, type JournalErrorCode } from "./journal/journal-error.ts";
export { JournalFile, type JournalFileOptions } from "./journal/journal-file.ts";
export { type JournalFileSystem, journalFileSystem } from "./journal/journal-file-system.ts";
export { type JournalLine, LineSplitter, readLines } from "./journal/journal-lines.ts";
export { JournalQueue, type JournalQueueOptions } from "./journal/journal-queue.ts";
export type { FileEnd } from "./journal/journal-tail.ts";
export { removeLockRemains } from "./lock-remains.ts";
export { makeDirectory, makeDirectorySync } from "./make-directory.ts";
export { OutputLines, type OutputLinesOptions } from "./output-lines.ts";
export {
  type OpenOwnFileOptions,
  openOwnFile,
  type ReadOwnFileOptions,
  readOwnFile,
  UnsafeFileError,
  type UnsafeFileReason,
} from "./own-file.ts";
export { isNameOfGoneProcess, ownedName, ownerOfName } from "./owned-name.ts";
export { isOwnedByUser, type PrivatePathOptions, privatePathProblem } from "./private-path.ts";
export { isAlive, isGone, type ProcessIdentity, processStart, thisProcess } from "./process-identity.ts";
export { protectedNameIn } from "./protected-name.ts";
export { realPathOf } from "./real-path.ts";
export { reportLostConnections } from "./report-lost-connections.ts";
export { sha256Digest, sha256Hex } from "./sha256.ts";
export { syncDirectory } from "./sync-directory.ts";
export { ifPresent, isExisting, isMissing, systemErrorCode } from "./system-error.ts";
