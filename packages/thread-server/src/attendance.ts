/** Who is there: whether a client hears of a thread and could answer. */
export interface Attendance {
  isAttended(threadId: string): boolean;
  /** True while a client has subscribed to this very thread. */
  hasSubscriber(threadId: string): boolean;
  /** Calls back whenever somebody comes, goes or subscribes. Returns what ends that. */
  onChange(callback: () => void): () => void;
}
