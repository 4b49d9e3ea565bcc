/**
 * Around a whole run: the tests get a temp directory of the run's own, so whatever is there after the last of them,
 * or runs from there, is something that a test has left behind.
 */
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export default function watchForLeftovers(): () => void {
  const directory = mkdtempSync(join(realpathSync(tmpdir()), "acpx-"));
  // Some tests run programs in it as another user.
  chmodSync(directory, 0o755);
  const outside = process.env["TMPDIR"];
  // Inherited by every worker, and by what the tests start.
  process.env["TMPDIR"] = directory;
  return () => {
    const left = [...readdirSync(directory), ...processesOf(directory)];
    rmSync(directory, { recursive: true, force: true });
    if (outside === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = outside;
    if (left.length > 0) throw new Error(`The run has left behind:\n${left.join("\n")}`);
  };
}

/** Pid and argv of whoever runs from, works in or names the directory. */
function processesOf(directory: string): string[] {
  if (process.platform !== "linux") return [];
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const argv = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
        const places = [readlinkSync(`/proc/${pid}/exe`), readlinkSync(`/proc/${pid}/cwd`), argv];
        return places.some((place) => place.includes(directory)) ? [`${pid} ${argv}`] : [];
      } catch {
        // It ended meanwhile, or is not ours to look at.
        return [];
      }
    });
}
