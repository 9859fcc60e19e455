import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { publishedEntries } from "./workspace.mjs";

/** A longer declaration is cut, and its digest stands for the rest: a schema's type may take pages. */
const maxLength = 300;
const keptLength = 120;

const printer = ts.createPrinter({ removeComments: true, newLine: ts.NewLineKind.LineFeed });

const compact = (text) => {
  const line = text
    .replaceAll(/\s+/g, " ")
    .replace(/^export (?:declare )?|^declare /, "")
    .trim();
  if (line.length <= maxLength) return line;
  const digest = createHash("sha256").update(line).digest("hex").slice(0, 12);
  return `${line.slice(0, keptLength)}… (${line.length} characters, ${digest})`;
};

/** One line for each declaration of an exported symbol. */
function linesOf(symbol, name, checker) {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const lines = (target.declarations ?? []).map((declaration) => {
    const isVariable = ts.isVariableDeclaration(declaration);
    const text = printer.printNode(ts.EmitHint.Unspecified, declaration, declaration.getSourceFile());
    const line = compact(isVariable ? `const ${text}` : text);
    return name === target.name ? line : `${name} = ${line}`;
  });
  return lines.length === 0 ? [`${name}: not found`] : lines;
}

/** The declarations that an entry promises, as a file. */
const typesOf = (pkg, { files }) =>
  files.map((file) => join(pkg.dir, file)).find((file) => file.endsWith(".d.ts"));

/**
 * What the entries of the packages export, from the built declarations: a map from package to text, a heading for each entry
 * and a line for each declaration, sorted and without comments. Packages without entries are left out.
 */
export function apiReports(packages) {
  const entries = packages.flatMap((pkg) =>
    publishedEntries(pkg)
      .map((entry) => ({ pkg, ...entry, types: typesOf(pkg, entry) }))
      .filter(({ types }) => types !== undefined && existsSync(types)),
  );
  const program = ts.createProgram(
    entries.map(({ types }) => types),
    {
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      skipLibCheck: true,
      noLib: true,
      types: [],
      noEmit: true,
    },
  );
  const checker = program.getTypeChecker();
  const reports = new Map();
  for (const { pkg, specifier, types } of entries) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(types));
    const symbols = module === undefined ? [] : checker.getExportsOfModule(module);
    const lines = symbols.flatMap((symbol) => linesOf(symbol, symbol.name, checker)).sort();
    const former = reports.get(pkg);
    reports.set(pkg, `${former === undefined ? "" : `${former}\n`}# ${specifier}\n${lines.join("\n")}\n`);
  }
  return reports;
}
