import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, chown, copyFile, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../../../test-kit/test-kit.ts";

const binary = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/opt/homebrew/bin/pgbouncer"].find(existsSync);
export const hasPgbouncer = binary !== undefined;

const nobody = 65_534;

const fixtures = new URL("../../../transport-http/test/fixtures/", import.meta.url);
/** The certificate of `localhost`, signed by itself. */
export const certificate = new URL("localhost-cert.pem", fixtures);

/**
 * PgBouncer before the server of a URL: transactions share two connections, whatever the number of clients. With `tls`, clients
 * must use TLS, and the host is `localhost`.
 */
export const startPgbouncer = async (url: string, { tls = false }: { readonly tls?: boolean } = {}) => {
  const target = new URL(url);
  const directory = await mkdtemp(join(tmpdir(), "harness-pgbouncer-"));
  const port = await freePort();
  const host = target.searchParams.get("host") ?? target.hostname;
  const password = target.password === "" ? "" : ` password=${decodeURIComponent(target.password)}`;
  const settings = [
    "[databases]",
    `* = host=${host} port=${target.port || 5432} user=${target.username}${password}`,
    "[pgbouncer]",
    "listen_addr = 127.0.0.1",
    `listen_port = ${port}`,
    "unix_socket_dir =",
    "auth_type = any",
    "pool_mode = transaction",
    "default_pool_size = 2",
    "max_client_conn = 200",
    "ignore_startup_parameters = extra_float_digits",
  ];
  const pems = { cert: join(directory, "cert.pem"), key: join(directory, "key.pem") };
  if (tls) {
    await copyFile(certificate, pems.cert);
    await copyFile(new URL("localhost-key.pem", fixtures), pems.key);
    settings.push("client_tls_sslmode = require");
    settings.push(`client_tls_cert_file = ${pems.cert}`, `client_tls_key_file = ${pems.key}`);
  }
  const file = join(directory, "pgbouncer.ini");
  await writeFile(file, `${settings.join("\n")}\n`);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) {
    // PgBouncer refuses to run as root.
    await chmod(directory, 0o700);
    for (const path of [directory, file, ...(tls ? Object.values(pems) : [])])
      await chown(path, nobody, nobody);
  }
  const child = spawn(binary as string, [file], {
    stdio: ["ignore", "ignore", "pipe"],
    ...(isRoot ? { uid: nobody, gid: nobody } : {}),
  });
  const exited = once(child, "exit");
  let log = "";
  const started = new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      log += text;
      if (log.includes("process up")) resolve();
    });
    void exited.then(() => reject(new Error(`PgBouncer did not start: ${log}`)));
  });
  await started;
  const own = new URL(url);
  own.searchParams.delete("host");
  own.hostname = tls ? "localhost" : "127.0.0.1";
  own.port = String(port);
  return {
    url: own.href,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
      await rm(directory, { recursive: true, force: true });
    },
  };
};
