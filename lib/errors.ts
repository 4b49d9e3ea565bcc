/** Every error this package throws by itself: `code` is stable, the message names the thing and the remedy. */
export type LifecycleErrorCode =
  | "ERR_ADDON_UNAVAILABLE"
  | "ERR_AGENT_COMMAND"
  | "ERR_DISPOSED"
  | "ERR_INVALID_OPTION"
  | "ERR_LAUNCH_REFUSED"
  | "ERR_PROTECTED_PROCESS"
  | "ERR_STATE_DIR"
  | "ERR_WRAPPER_ROOT";

export class LifecycleError extends Error {
  override readonly name = "LifecycleError";

  constructor(
    readonly code: LifecycleErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
