export interface PostgresServer {
  readonly url: string;
  end(): Promise<void>;
}
export declare const startPostgres: () => Promise<
  PostgresServer & { say(word: "start" | "stop"): Promise<void> }
>;
export declare const openPostgres: () => Promise<PostgresServer>;
