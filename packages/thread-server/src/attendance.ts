/** Who is there: whether a client hears of a thread and could answer. */
export interface Attendance {
  isAttended(threadId: string): boolean;
  /** Calls back whenever somebody comes, goes or subscribes. Returns what ends that. */
  onChange(callback: () => void): () => void;
}
