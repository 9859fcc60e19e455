import ts from "typescript";

/** Every module that a source file names: `{ specifier, line }` of imports, re-exports, `import()` and `require()`. */
export function importsOf(text) {
  const { importedFiles } = ts.preProcessFile(text, true, true);
  return importedFiles.map(({ fileName, pos }) => ({
    specifier: fileName,
    line: text.slice(0, pos).split("\n").length,
  }));
}
