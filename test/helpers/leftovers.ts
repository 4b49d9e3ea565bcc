/**
 * Around a whole run: whatever test/ starts or creates is called acpx-something in the temp directory, so a process
 * that runs from there, or a directory there, after the last test is one that a test has left behind.
 */
import { readdirSync, readlinkSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PREFIX = join(tmpdir(), "acpx-");

function directories(): string[] {
  return readdirSync(tmpdir()).filter((name) => join(tmpdir(), name).startsWith(PREFIX));
}

function processes(): string[] {
  if (process.platform !== "linux") return [];
  const found: string[] = [];
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const places = [readlinkSync(`/proc/${pid}/exe`), readlinkSync(`/proc/${pid}/cwd`)];
      const argv = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
      if ([...places, argv].some((text) => text.includes(PREFIX))) found.push(`${pid} ${argv}`);
    } catch {
      // It ended meanwhile, or is not ours to look at.
    }
  }
  return found;
}

export default function watchForLeftovers(): () => void {
  const before = { directories: new Set(directories()), processes: new Set(processes()) };
  return () => {
    const left = [
      ...directories()
        .filter((name) => !before.directories.has(name))
        .map((name) => `directory ${join(tmpdir(), name)}`),
      ...processes()
        .filter((name) => !before.processes.has(name))
        .map((name) => `process ${name}`),
    ];
    if (left.length > 0) throw new Error(`The run has left behind:\n${left.join("\n")}`);
  };
}
