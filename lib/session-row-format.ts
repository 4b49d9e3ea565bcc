/**
 * A session row as text. Untrusted text becomes a whole row or none.
 */
import { isUuid } from "./lease-format.js";
import { normalizeAcpSessionOwner, type AcpSessionOwner } from "./session-owner.js";

/** An owner row, and the lease that the session's process was last started under. */
export interface AcpSessionRow extends AcpSessionOwner {
  readonly leaseId?: string;
}

const SCHEMA = "acpx.session-owner.v1";

export function packSessionRow(row: AcpSessionRow): string {
  return `${JSON.stringify({ schema: SCHEMA, ...row })}\n`;
}

export function unpackSessionRow(text: string): AcpSessionRow | undefined {
  try {
    const { schema, backend, leaseId, ...owner } = JSON.parse(text) as Record<string, unknown>;
    if (schema !== SCHEMA || backend !== "acpx") return undefined;
    if (leaseId !== undefined && !(typeof leaseId === "string" && isUuid(leaseId))) return undefined;
    const row = normalizeAcpSessionOwner(owner as Omit<AcpSessionOwner, "backend">);
    return leaseId === undefined ? row : { ...row, leaseId };
  } catch {
    return undefined;
  }
}
