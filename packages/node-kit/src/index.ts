export { createFileAtomic, removeTemporaries, temporaryName, writeFileAtomic } from "./atomic-file.ts";
export {
  acquireFileLock,
  type FileLock,
  FileLockError,
  type FileLockOptions,
  type FileLockOwner,
  isLockOwnerDead,
  readFileLock,
} from "./file-lock.ts";
export { isInside } from "./is-inside.ts";
export { JournalError } from "./journal/journal-error.ts";
export { JournalFile } from "./journal/journal-file.ts";
export { type JournalFileSystem, journalFileSystem } from "./journal/journal-file-system.ts";
export { LineSplitter, readLines } from "./journal/journal-lines.ts";
export { JournalQueue } from "./journal/journal-queue.ts";
export { makeDirectory, makeDirectorySync } from "./make-directory.ts";
export { OutputLines } from "./output-lines.ts";
export { openOwnFile, readOwnFile, UnsafeFileError } from "./own-file.ts";
export { isOwnedByUser, privatePathProblem } from "./private-path.ts";
export {
  isAlive,
  isGone,
  isNameOfGoneProcess,
  ownedName,
  type ProcessIdentity,
  thisProcess,
} from "./process-identity.ts";
export { protectedNameIn } from "./protected-name.ts";
export { realPathOf } from "./real-path.ts";
export { reportLostConnections } from "./report-lost-connections.ts";
export { sha256Digest, sha256Hex } from "./sha256.ts";
export { syncDirectory } from "./sync-directory.ts";
export { ifPresent, isExisting, isMissing, systemErrorCode } from "./system-error.ts";
