/** A time span as people read it: `340 ms`, `2.1 s`, `3 min 5 s`. */
export const formatDuration = (ms: number): string => {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
};

/** A moment as `2026-11-21 23:01`, local time. */
export const formatTime = (time: number): string => {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "unknown time    ";
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
};
