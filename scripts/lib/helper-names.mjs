import ts from "typescript";

/** In how many packages one name may be defined. */
const maxPackages = 2;

/** Names that different things may share, as methods of different classes do; each with what it means wherever it stands. */
const shared = {
  App: "the root component of a page",
  end: "how one thing of the file ends: a program, a process, a directive",
  run: "what the file is for: a command, a tool, an invocation",
  say: "sends or prints one message",
  serve: "a command's server",
  start: "starts what the file is about",
};

/** The functions and classes that a source file defines at its top, by name. */
function helpersIn(fileName, text) {
  const { statements } = ts.createSourceFile(fileName, text, ts.ScriptTarget.Latest);
  return statements.flatMap((statement) => {
    if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) {
      return statement.name === undefined ? [] : [statement.name.text];
    }
    if (!ts.isVariableStatement(statement)) return [];
    return statement.declarationList.declarations.flatMap(({ name, initializer }) => {
      const isFunction =
        initializer !== undefined &&
        (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer));
      return isFunction && ts.isIdentifier(name) ? [name.text] : [];
    });
  });
}

/** Finds names that too many packages define. */
export class HelperNames {
  /** The files that define a name, by package. */
  #byName = new Map();

  /** `place` is the file's path from the root. */
  add(packagePath, place, text) {
    for (const name of helpersIn(place, text)) {
      if (Object.hasOwn(shared, name)) continue;
      const packages = this.#byName.get(name) ?? new Map();
      this.#byName.set(name, packages.set(packagePath, place));
    }
  }

  problems() {
    const many = [...this.#byName].filter(([, packages]) => packages.size > maxPackages);
    return many.map(
      ([name, packages]) =>
        `${name} is defined in ${packages.size} packages: ${[...packages.values()].sort().join(", ")}: give the same thing one home, and different things names that say which`,
    );
  }
}
