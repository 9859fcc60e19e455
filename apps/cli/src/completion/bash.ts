import { allCommands, type CommandSpec, nameOf, quoted, type ValueSpec } from "./command-spec.ts";

const reply = (value: ValueSpec): string => {
  if (value === "files") return "_harness_reply -f";
  if (value === "directories") return "_harness_reply -d";
  return value === "any" ? ":" : `_harness_reply -W ${quoted(value.join(" "))}`;
};

const lines = (commands: readonly CommandSpec[], of: (command: CommandSpec) => string[]): string =>
  commands.flatMap(of).join("\n");

/** A script for bash 3.2 or later that completes the commands, options and values of the program. */
export const bashCompletion = (program: CommandSpec): string => {
  const commands = allCommands(program);
  const paths = commands.filter(({ path }) => path !== "").map(({ path }) => quoted(path));
  const values = lines(commands, ({ path, options }) =>
    options.flatMap(({ flags, value }) =>
      value === undefined
        ? []
        : [`    ${flags.map((flag) => quoted(`${path} ${flag}`)).join(" | ")}) ${reply(value)}; return ;;`],
    ),
  );
  const options = lines(commands, ({ path, options }) => [
    `      ${quoted(path)}) _harness_reply -W ${quoted(options.flatMap(({ flags }) => flags).join(" "))} ;;`,
  ]);
  const words = lines(commands, (command) => {
    const names = command.commands.map(nameOf).join(" ");
    if (names !== "") return [`    ${quoted(command.path)}) _harness_reply -W ${quoted(names)} ;;`];
    return command.argument === undefined
      ? []
      : [`    ${quoted(command.path)}) ${reply(command.argument)} ;;`];
  });
  return `# bash completion for harness. To use it: source <(harness completion bash)
_harness_reply() {
  local found
  [[ $1 == -W ]] || compopt -o filenames 2> /dev/null
  while IFS= read -r found; do COMPREPLY+=("$found"); done < <(compgen "$@" -- "$current")
}

_harness() {
  local current=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} at='' next i
  COMPREPLY=()
  # Bash takes the sign of --option=value for a word of its own.
  if [[ $current == '=' ]]; then
    current=''
  elif [[ $before == '=' ]]; then
    before=\${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="\${at:+$at }\${COMP_WORDS[i]}"
    case "$next" in
      ${paths.join(" | \\\n      ")}) at=$next ;;
    esac
  done
  case "$at $before" in
${values}
  esac
  if [[ $current == -* ]]; then
    case "$at" in
${options}
    esac
    return
  fi
  case "$at" in
${words}
  esac
}

complete -F _harness harness
`;
};
