/** The error codes of the thread protocol beside those of JSON-RPC 2.0 (section "Error Codes"). */
export const ThreadErrorCode = {
  /** No thread has this id. */
  ThreadNotFound: -32001,
  /** The thread has an active turn already. */
  TurnBusy: -32002,
  /** No turn has this id, or none is running. */
  TurnNotFound: -32003,
  /** No approval waits under this id. */
  ApprovalNotFound: -32004,
  /** This `clientRequestId` came with another payload before (extension). */
  RequestConflict: -32005,
  /** The thread is archived: it takes no prompt (extension). */
  ThreadArchived: -32006,
} as const;

export type ThreadErrorCode = (typeof ThreadErrorCode)[keyof typeof ThreadErrorCode];
