import ts from "typescript";

const suppression = /@ts-(?:ignore|nocheck|expect-error)|biome-ignore/;

/** Every module that a source file names: `{ specifier, line }` of imports, re-exports, `import()` and `require()`. */
export function importsOf(text) {
  const { importedFiles } = ts.preProcessFile(text, true, true);
  return importedFiles.map(({ fileName, pos }) => ({
    specifier: fileName,
    line: text.slice(0, pos).split("\n").length,
  }));
}

const isGlobal = (node, name) => ts.isIdentifier(node) && node.text === name;

/** A bundler keeps all that hangs on the named export `z`; of a namespace it keeps what is used. */
const importsZodByName = (node) =>
  ts.isImportDeclaration(node) &&
  node.moduleSpecifier.text === "zod" &&
  node.importClause?.namedBindings !== undefined &&
  ts.isNamedImports(node.importClause.namedBindings) &&
  node.importClause.namedBindings.elements.some(
    ({ name, propertyName }) => (propertyName ?? name).text === "z",
  );

function problemOf(node) {
  if (ts.isPropertyAccessExpression(node) && isGlobal(node.expression, "console"))
    return ["console", "writes to the console"];
  if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && isGlobal(node.expression, "Error")) {
    return ["error", "makes a plain Error: use a typed one with a string code"];
  }
  if (ts.isAsExpression(node) && node.type.kind === ts.SyntaxKind.AnyKeyword)
    return ["any", "casts `as any`"];
  if (ts.isExportAssignment(node) && !node.isExportEquals) return ["default", "has a default export"];
  if (importsZodByName(node))
    return ["zod", "imports { z } of zod, which brings all of its locales: import * as z"];
  if (ts.isExportDeclaration(node) && node.exportClause === undefined)
    return ["star", "exports everything of a module (`export *`)"];
  return undefined;
}

/** What a source file does that the house rules forbid: `{ rule, line, text }`; `except` names rules to leave out. */
export function forbiddenIn(fileName, text, except = []) {
  const source = ts.createSourceFile(fileName, text, ts.ScriptTarget.Latest, true);
  const problems = [];
  const lineOf = (position) => source.getLineAndCharacterOfPosition(position).line + 1;
  const visit = (node) => {
    const problem = problemOf(node);
    if (problem !== undefined && !except.includes(problem[0])) {
      problems.push({ rule: problem[0], line: lineOf(node.getStart(source)), text: problem[1] });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  for (const [index, line] of text.split("\n").entries()) {
    if (suppression.test(line))
      problems.push({ rule: "suppression", line: index + 1, text: "suppresses a check" });
  }
  return problems;
}
