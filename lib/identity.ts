/**
 * Which process is which. A number alone names whoever has it now; identity is pid + start token.
 */

/** A process for good: `pid` means something only in the scope that the token names. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly token: string;
}
