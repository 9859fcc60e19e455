import { allCommands, type CommandSpec, nameOf, quoted, short, type ValueSpec } from "./command-spec.ts";

const add = (value: ValueSpec): string => {
  if (value === "files") return "_files";
  if (value === "directories") return "_files -/";
  return value === "any" ? ":" : `compadd -- ${value.map(quoted).join(" ")}`;
};

/** A word with its description, as `_describe` takes it. */
const described = (word: string, description: string): string =>
  quoted(`${word.replaceAll(":", "\\:")}:${short(description)}`);

/** A script for zsh that completes the commands, options and values of the program. */
export const zshCompletion = (program: CommandSpec): string => {
  const commands = allCommands(program);
  const paths = commands.filter(({ path }) => path !== "").map(({ path }) => quoted(path));
  const values = commands.flatMap(({ path, options }) =>
    options.flatMap(({ flags, value }) =>
      value === undefined
        ? []
        : [`    ${flags.map((flag) => quoted(`${path} ${flag}`)).join(" | ")}) ${add(value)}; return ;;`],
    ),
  );
  const options = commands.map(({ path, options }) => {
    const found = options.flatMap(({ flags, description }) =>
      flags.map((flag) => described(flag, description)),
    );
    return `      ${quoted(path)}) found=(${found.join(" ")}) ;;`;
  });
  const words = commands.flatMap((command) => {
    const { path, argument } = command;
    const found = command.commands.map((one) => described(nameOf(one), one.description));
    if (found.length > 0) return [`    ${quoted(path)}) found=(${found.join(" ")}) ;;`];
    return argument === undefined ? [] : [`    ${quoted(path)}) ${add(argument)}; return ;;`];
  });
  return `#compdef harness
# zsh completion for harness. To use it: source <(harness completion zsh)
_harness() {
  local at='' next i before=$words[CURRENT-1]
  local -a found
  for ((i = 2; i < CURRENT; i++)); do
    next="\${at:+$at }$words[i]"
    case "$next" in
      ${paths.join(" | \\\n      ")}) at=$next ;;
    esac
  done
  if compset -P '--*='; then before=\${IPREFIX%=}; fi
  case "$at $before" in
${values.join("\n")}
  esac
  if [[ $PREFIX == -* ]]; then
    case "$at" in
${options.join("\n")}
    esac
    _describe -o option found
    return
  fi
  case "$at" in
${words.join("\n")}
  esac
  (( $#found )) && _describe command found
}

if [[ $funcstack[1] == _harness ]]; then
  _harness "$@"
elif (( $+functions[compdef] )); then
  compdef _harness harness
fi
`;
};
