/**
 * Becomes the agent. It runs as the leader of a new session and group, sends the guard its identity, and then replaces
 * itself by the program, so that the agent is the core's own child and the system reports its exit to the core. File
 * descriptor 3 is the core's end of the guard's input; the program does not get it.
 *
 * Arguments: the program and its arguments. Nothing in them is looked at by the shell.
 */
export const agentScript = `
{ read -r born </proc/self/stat; } 2>/dev/null || born=
printf '%s\\n' "$$ $born" >&3 || exit 1
exec "$@" 3>&-
`;

/**
 * Waits until the other end of its input is closed, that is until the core has ended or ends the launch,
 * and then kills what is left of the launch: the agent's group, and each process with the launch's id in its
 * environment, again and again until none is left. Signals do not end it; only SIGKILL does, and the core notices that.
 *
 * A group's id is used only if its leader is the one that said so (its start time is compared) or is gone: while any
 * process is left in the group, the system does not reuse its id.
 *
 * Argument: the launch's id. Input: one line, the agent's process id and its /proc/PID/stat if the system has that.
 */
export const guardScript = `
trap '' HUP INT QUIT TERM PIPE
id=$1
read -r born || born=
while read -r rest; do :; done
set -f
set -- $born
group=$1
start=\${23}
kill_group() {
  [ -n "$group" ] || return 0
  if [ -n "$start" ] && now=$(cat "/proc/$group/stat" 2>/dev/null); then
    now=\${now##*) }
    set -- $now
    [ "\${20}" = "$start" ] || return 0
  fi
  kill -s KILL -- "-$group" 2>/dev/null
}
kill_others() {
  set +f
  found=$(grep -lsF "HARNESS_LAUNCH_ID=$id" /proc/[0-9]*/environ)
  set -f
  for file in $found; do
    pid=\${file#/proc/}
    grep -qsF "HARNESS_LAUNCH_ID=$id" "$file" && kill -s KILL "\${pid%/environ}" 2>/dev/null
  done
  [ -n "$found" ]
}
kill_group
left=1000
while kill_others && [ $left -gt 0 ]; do left=$((left - 1)); done
[ $left -gt 0 ]
`;
