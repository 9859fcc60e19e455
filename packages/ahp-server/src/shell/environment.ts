import type { Runner } from "./call.ts";
import type { ShellState } from "./shell-state.ts";

/** Variables whose value is a command that some program runs. */
const commands =
  /^(?:GIT_(?:SSH_COMMAND|EDITOR|SEQUENCE_EDITOR|PAGER|EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND)|PAGER|MANPAGER|EDITOR|VISUAL|BROWSER|LESSOPEN|LESSCLOSE|PROMPT_COMMAND|PS[0-4]|SSH_ASKPASS|SUDO_ASKPASS|RUSTC_WRAPPER|BAT_PAGER|CC|CXX|SHELL)$/;

/** Variables that make programs load code from elsewhere. */
const loaders =
  /^(?:LD_\w+|GLIBC_TUNABLES|MALLOC_TRACE|LOCPATH|NLSPATH|TERMINFO(?:_DIRS)?|DYLD_\w+|BASH_(?:ENV|CMDS|ALIASES|LOADABLES_PATH|XTRACEFD)|ENV|HOME|ZDOTDIR|HISTFILE|XDG_(?:CONFIG|DATA)_(?:HOME|DIRS)|BASH_FUNC_.*|NODE_OPTIONS|NODE_PATH|PYTHON(?:STARTUP|PATH|HOME|INSPECT|WARNINGS|BREAKPOINT)|PERL5(?:OPT|LIB|DB)|RUBY(?:OPT|LIB)|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|GIT_(?:SSH|EXEC_PATH|TEMPLATE_DIR|CONFIG.*|DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|(?:ALTERNATE_)?OBJECT_DIRECTOR(?:Y|IES)|TRACE\w*|REDIRECT_\w+)|TAR_OPTIONS|RIPGREP_CONFIG_PATH|BAT_(?:CONFIG_\w+|OPTS)|OPENSSL_(?:CONF|ENGINES|MODULES)|MANOPT|MANROFFOPT|GCONV_PATH|SHELLOPTS|BASHOPTS|npm_config_\w+|npm_lifecycle_\w+)$/;

const harmless =
  /^(?:cat|less(?: -\w+)*|more|true|:|vim?|nano|emacs|code(?: --wait)?|gcc|g\+\+|clang(?:\+\+)?|cc|\/bin\/(?:ba|z)?sh|)$/;

/** Says of a variable that is set whether it makes other programs run something else. */
export const noteEnvironment = (run: Runner, name: string, value: string, state: ShellState): void => {
  if (name === "PATH") {
    run.report("unknown", "search-path", "it changes where programs are looked for");
  } else if (loaders.test(name) && value !== "") {
    run.report("unknown", "loads-code", `${name} makes programs load something else`);
  } else if (commands.test(name) && !harmless.test(value)) {
    run.report("write", "sets-command", `${name} is a command that other programs run`);
    if (!name.startsWith("PS") || /\$\(|`/.test(value)) run.script(value, state.clone(), undefined);
  }
};

const nameOf = (name: string): string => name.replace(/\[[\s\S]*$/, "");

/** Whether a variable makes programs run or load something. */
export const isWatched = (name: string): boolean =>
  nameOf(name) === "PATH" || loaders.test(nameOf(name)) || commands.test(nameOf(name));

/** Says so of every variable of a shell, however it came to its value: by `read`, `printf -v` or a loop, too. */
export const noteVariables = (run: Runner, state: ShellState): void => {
  for (const full of state.variables.watched) {
    const name = nameOf(full);
    const value = state.variables.get(full)?.join(" ");
    if (value === undefined) continue;
    if (name === "PATH" || loaders.test(name)) noteEnvironment(run, name, value, state);
    else if (!harmless.test(value))
      run.report("write", "sets-command", `${name} is a command that other programs run`);
  }
};
