/** What `harness` says when it is called without a command. */
export const firstScreen = `harness runs an AI agent on the files of a directory. It asks before it changes anything.

Try one of these; none of them needs a key:
  harness run "describe this repository"   give the agent a task
  harness chat                             talk with it
  harness doctor                           check this machine, and how to use a language model

All commands: harness --help
`;
