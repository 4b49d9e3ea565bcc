import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import ts from "typescript";
import { describe, expect, it } from "vitest";

const PROJECT = fileURLToPath(new URL("../../", import.meta.url));
const PAGES = [
  ...readdirSync(PROJECT).filter((name) => name.endsWith(".md")),
  ...readdirSync(join(PROJECT, "docs"))
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name)),
];

/** What examples may take for granted; everything else they must import or declare themselves. */
const PRELUDE = `
declare const stateDir: string;
declare const wrapperRoot: string;
declare const sessionKey: string;
declare const hostOptions: import("acpx/runtime").AcpRuntimeOptions;
declare const requesterSessionKey: string;
declare const sandboxed: boolean;
declare const rows: readonly import("acpx-lifecycle/visibility").SessionRow[];
declare const config: {
  tools: {
    sessions: { visibility: import("acpx-lifecycle/visibility").SessionVisibility };
    agentToAgent: import("acpx-lifecycle/visibility").AgentToAgentConfig;
  };
};
`;

const fences = (page: string): string[] =>
  [...readFileSync(join(PROJECT, page), "utf8").matchAll(/^```ts\n(.*?)^```/gms)].map(
    ([, code = ""]) => code,
  );

/** Diagnostics of an example, as it would compile in a project that has this package. */
function compileErrors(code: string): string[] {
  const file = join(PROJECT, "example.ts");
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts"],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ["node"],
  };
  const host = ts.createCompilerHost(options);
  const source = ts.createSourceFile(file, `export {};${PRELUDE}${code}`, ts.ScriptTarget.ES2022, true);
  const readSource = host.getSourceFile.bind(host);
  host.getSourceFile = (name, ...rest) => (name === file ? source : readSource(name, ...rest));
  const program = ts.createProgram([file], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}

describe.each(PAGES)("%s", (page) => {
  it("links only to what is there", () => {
    const text = readFileSync(join(PROJECT, page), "utf8");
    const targets = [...text.matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, target = ""]) => target);
    expect(targets.filter((target) => !existsSync(join(PROJECT, dirname(page), target)))).toEqual([]);
  });

  it("has examples that compile", () => {
    expect(fences(page).flatMap(compileErrors)).toEqual([]);
  });
});

it("an example with a mistake in it does not compile", () => {
  expect(
    compileErrors(`import { openAcpxLifecycle } from "acpx-lifecycle"; await openAcpxLifecycle({});`),
  ).not.toEqual([]);
});
