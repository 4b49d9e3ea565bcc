/**
 * Whether the image that a wrapper's process runs is one that was installed for this gateway, by what the kernel says
 * about the executable and not by a string in argv.
 */
import type { Check } from "./checks.js";
import type { ProcessReading } from "./evidence.js";
import type { AcpxProcessLease } from "./lease.js";

export interface Images {
  /** Real paths of the configured wrapper roots. */
  readonly wrapperRoots: readonly string[];
  /** `<device>:<inode>` of installed wrapper images. */
  readonly wrapperImages?: readonly string[];
}

/** Against the configured roots, not the lease's: a lease may have come with a copied state directory. */
export function checkExecutable(lease: AcpxProcessLease, reading: ProcessReading, images: Images): Check {
  const name = "executable";
  if (lease.launch === "direct") {
    return { name, outcome: "not-recorded", detail: "A direct launch has no wrapper to recognise it by." };
  }
  const { executable } = reading;
  if (!executable.ok) {
    return { name, outcome: "unreadable", detail: `The executable could not be read: ${executable.reason}.` };
  }
  const { path, deleted, fileId } = executable.value;
  const shown = deleted ? `${path} (replaced since)` : path;
  if (images.wrapperRoots.some((root) => isUnder(path, root))) {
    return { name, outcome: "match", detail: `Runs ${shown}, under a configured wrapper root.` };
  }
  if (images.wrapperImages?.includes(fileId) === true) {
    return { name, outcome: "match", detail: `Runs ${shown}, the file of an installed wrapper.` };
  }
  const roots = images.wrapperRoots.join(", ");
  return {
    name,
    outcome: "mismatch",
    detail: `Expected an image under ${roots || "a wrapper root"}, read ${shown}.`,
  };
}

/** By components: `/a/bc` is not under `/a/b`. Only for absolute paths without dots, as the kernel gives them. */
export function isUnder(path: string, root: string): boolean {
  if (!path.startsWith("/") || !root.startsWith("/")) return false;
  const inner = path.split("/").slice(1);
  const outer = root.split("/").filter((component) => component !== "");
  if (inner.length <= outer.length || inner.some((part) => part === "" || part === "." || part === ".."))
    return false;
  return outer.every((component, depth) => component === inner[depth]);
}
