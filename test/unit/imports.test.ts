import { readFileSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";

import ts from "typescript";
import { describe, expect, test } from "vitest";

import { badSources, floors } from "../cases/import-floors.js";

const LIB = join(import.meta.dirname, "../../lib");
const sources = readdirSync(LIB)
  .filter((name) => name.endsWith(".ts"))
  .map((name) => ({ file: basename(name, ".ts"), source: readFileSync(join(LIB, name), "utf8") }));

const IMPURE = new Set([
  "Date",
  "performance",
  "process",
  "console",
  "globalThis",
  "crypto",
  "setTimeout",
  "fetch",
]);

/** What a source does that its floor forbids. */
function complaints(file: string, source: string): string[] {
  const place = floors[file];
  if (place === undefined) return [`${file}: is on no floor`];
  const imported = ts.preProcessFile(source).importedFiles.map(({ fileName }) => fileName);
  const wrongImports = imported.flatMap((name) => {
    if (!name.startsWith("./")) return place.floor === 0 ? [`${file}: is pure and imports ${name}`] : [];
    const other = basename(name, ".js");
    const floor = floors[other]?.floor;
    if (floor === undefined) return [`${file}: imports ${other}, which is on no floor`];
    if (floor > place.floor) return [`${file}: imports ${other} from above`];
    const drawn = floor < place.floor || place.beside?.includes(other);
    return drawn ? [] : [`${file}: imports ${other} beside it, which nobody drew`];
  });
  return [...wrongImports, ...(place.floor === 0 ? impurities(file, source) : [])];
}

/** Names of the world outside that a source uses; what it declares itself, and names of properties, are its own. */
function impurities(file: string, source: string): string[] {
  const used = new Set<string>();
  const own = new Set<string>();
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) || ts.isParameter(node) || ts.isBindingElement(node))
      own.add(node.name.getText());
    if (ts.isPropertyAccessExpression(node)) {
      if (node.getText() === "Math.random") used.add("Math.random");
      visit(node.expression);
    } else if (ts.isPropertyAssignment(node)) {
      visit(node.initializer);
    } else if (ts.isPropertySignature(node)) {
      if (node.type !== undefined) visit(node.type);
    } else {
      if (ts.isIdentifier(node) && IMPURE.has(node.text)) used.add(node.text);
      ts.forEachChild(node, visit);
    }
  };
  visit(ts.createSourceFile(`${file}.ts`, source, ts.ScriptTarget.Latest, true));
  return [...used].filter((name) => !own.has(name)).map((name) => `${file}: is pure and uses ${name}`);
}

describe("the floors of lib", () => {
  test.each(sources)(
    "$file imports only from below, and beside it only what is drawn",
    ({ file, source }) => {
      expect(complaints(file, source)).toEqual([]);
    },
  );

  test("are described in ARCHITECTURE.md, every file by name", () => {
    const page = readFileSync(join(LIB, "../ARCHITECTURE.md"), "utf8");
    const named = new Set(page.match(/[a-z][a-z0-9-]*/g));
    expect(sources.map(({ file }) => file).filter((file) => !named.has(file))).toEqual([]);
  });

  test("are drawn without circles", () => {
    const settled = new Set<string>();
    const settle = (file: string, path: readonly string[]): void => {
      expect(path).not.toContain(file);
      if (settled.has(file)) return;
      for (const other of floors[file]?.beside ?? []) settle(other, [...path, file]);
      settled.add(file);
    };
    for (const file of Object.keys(floors)) settle(file, []);
    for (const [file, { floor, beside = [] }] of Object.entries(floors)) {
      expect(
        beside.filter((other) => floors[other]?.floor !== floor),
        `beside ${file}`,
      ).toEqual([]);
    }
  });
});

describe("the check itself notices", () => {
  test.each(badSources)("$name", ({ file, source, complaint }) => {
    expect(complaints(file, source)).toEqual([expect.stringContaining(complaint)]);
  });
});
