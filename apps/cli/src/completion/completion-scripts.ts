/** For each shell a script that asks `harness complete` for the candidates, see `completionLines`. */
export const completionScripts = {
  bash: `# bash completion for harness. To use it: source <(harness completion bash)
_harness() {
  local word current=\${COMP_WORDS[COMP_CWORD]} kind
  COMPREPLY=()
  [[ $current == '=' ]] && current=''
  while IFS=$'\\t' read -r word _; do
    case $word in
      :files) kind=-f ;;
      :directories) kind=-d ;;
      *) COMPREPLY+=("$word") ;;
    esac
  done < <(harness complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
  [[ $kind ]] || return 0
  compopt -o filenames 2> /dev/null
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen $kind -- "$current")
}

complete -F _harness harness
`,
  zsh: `#compdef harness
# zsh completion for harness. To use it: source <(harness completion zsh)
_harness() {
  local line
  local -a found
  for line in "\${(@f)$(harness complete -- "\${(@)words[2,CURRENT]}" 2> /dev/null)}"; do
    case $line in
      :files) compset -P '--*='; _files; return ;;
      :directories) compset -P '--*='; _files -/; return ;;
      ?*) found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done
  (( $#found )) && _describe harness found
}

if [[ $funcstack[1] == _harness ]]; then
  _harness "$@"
elif (( $+functions[compdef] )); then
  compdef _harness harness
fi
`,
  fish: `# fish completion for harness. To use it: harness completion fish | source
function __harness_complete
    set -l token (commandline -ct)
    set -l words (commandline -opc)
    set -l option (string match -r -- '^--[^=]*=' $token)
    set -l value (string replace -r -- '^--[^=]*=' '' "$token")
    for line in (harness complete -- $words[2..-1] "$token" 2> /dev/null)
        switch $line
            case ':files'
                printf "$option%s\\n" (__fish_complete_path "$value")
            case ':directories'
                printf "$option%s\\n" (__fish_complete_directories "$value")
            case '*'
                echo $line
        end
    end
end

complete -c harness -f -a '(__harness_complete)'
`,
};
