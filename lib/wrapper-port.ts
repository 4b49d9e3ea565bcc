/**
 * All that a launch asks of its wrapper, behind one interface: the image (wrapper.ts) and the files by which both
 * sides agree (claims.ts).
 */
import {
  publishClaim,
  readDetached,
  removeClaimFiles,
  sweepClaims,
  watchClaims,
  type ExpectedReport,
} from "./claims.js";
import type { ProcessIdentity } from "./identity.js";
import type { GatewayInstanceId } from "./lease.js";
import { installWrapper, wrapperEnvironment, type InstalledWrapper } from "./wrapper.js";

export interface WrapperPort {
  /** What a wrapper that this gateway starts must find in its environment. */
  readonly environment: Readonly<Record<string, string>>;
  /** Makes sure that the image of that name is installed and runs here. */
  install(name: string): Promise<InstalledWrapper>;
  /** Lets the wrapper `root` start its adapter. */
  claim(root: ProcessIdentity, ids: { leaseId: string; instanceId: GatewayInstanceId }): Promise<void>;
  /** The pid of the adapter, as a hint where to look. */
  expectReport(root: ProcessIdentity): ExpectedReport;
  /** Who asked to be left alone, as the wrapper saw them. */
  detached(root: ProcessIdentity): Promise<readonly ProcessIdentity[]>;
  /** Nothing of that launch is needed any more. */
  forget(root: ProcessIdentity): Promise<void>;
  /** Forgets all wrappers that no longer run. */
  sweep(isStale: (root: { readonly pid: number; readonly ticks: number }) => boolean): Promise<void>;
  close(): void;
}

export function openWrapperPort(options: {
  readonly wrapperRoot: string;
  readonly claimsDir: string;
  readonly gateway: ProcessIdentity;
  readonly termGraceMs: number;
}): WrapperPort {
  const { wrapperRoot, claimsDir } = options;
  const watch = watchClaims(claimsDir);
  return {
    environment: wrapperEnvironment(options),
    install: (name) => installWrapper({ wrapperRoot, name }),
    claim: (root, ids) => publishClaim(claimsDir, root, ids),
    expectReport: (root) => watch.expectReport(root),
    detached: (root) => readDetached(claimsDir, root),
    forget: (root) => removeClaimFiles(claimsDir, root),
    sweep: (isStale) => sweepClaims(claimsDir, isStale),
    close: () => {
      watch.close();
    },
  };
}
