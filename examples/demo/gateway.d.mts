export interface GatewayEvent {
  readonly event: string;
  readonly [field: string]: unknown;
}

export class Gateway {
  static start(name: string, config: object, env?: NodeJS.ProcessEnv): Promise<Gateway>;
  readonly pid: number;
  readonly child: import("node:child_process").ChildProcess;
  readonly events: readonly GatewayEvent[];
  readonly ended: Promise<unknown>;
  call<T>(method: string, params?: object): Promise<T>;
  event(name: string, matches?: (event: GatewayEvent) => boolean): Promise<GatewayEvent>;
  kill(): Promise<void>;
  stop(): Promise<void>;
}
