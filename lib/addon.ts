/**
 * Finds the addon and the supervisor that were built for this platform, here or beforehand. No variable of the
 * environment can redirect the search, and which libc is running is decided before anything is loaded: a
 * glibc build may load under musl by luck and fail later.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import loadBindings from "bindings";

/** One level up from lib/ in a checkout and from dist/ in an installed package. */
const packageRoot = fileURLToPath(new URL("..", import.meta.url));
const prebuilds = `${process.platform}-${process.arch}`;

const builtHere = ["build", "Release"] as const;
const builtBeforehand = ["prebuilds", prebuilds] as const;

export interface Loaded<Addon> {
  readonly addon: Addon | undefined;
  /** Why there is none, and what to do about it. */
  readonly reason?: string;
}

/** Never throws. */
export function loadAddon<Addon>(): Loaded<Addon> {
  const names = { here: "acpx_lifecycle.node", beforehand: `acpx_lifecycle${libcTag()}.node` };
  try {
    const addon = loadBindings({
      bindings: "acpx_lifecycle",
      module_root: packageRoot,
      try: [
        ["module_root", ...builtHere, names.here],
        ["module_root", ...builtBeforehand, names.beforehand],
      ],
    }) as Addon;
    return { addon };
  } catch (error) {
    return { addon: undefined, reason: explain(error, join(...builtBeforehand, names.beforehand)) };
  }
}

/** Absolute path of the supervisor executable, if there is one for this platform. */
export function supervisorImage(): string | undefined {
  const places = [builtHere, builtBeforehand].map((place) => join(packageRoot, ...place, "acpx_supervisor"));
  return places.find((path) => existsSync(path));
}

/** Only Linux has two kinds of C library. */
function libcTag(): string {
  if (process.platform !== "linux") return "";
  const report = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return report.header.glibcVersionRuntime === undefined ? ".musl" : ".glibc";
}

function explain(error: unknown, prebuild: string): string {
  const missing = error instanceof Error && "tries" in error;
  const cause = missing ? "was found" : `could be loaded (${String(error)})`;
  return (
    `No native addon for ${prebuilds} ${cause}. Install a version of acpx-lifecycle that ships ${prebuild}, ` +
    `or run "npm run build:native" in a checkout.`
  );
}
