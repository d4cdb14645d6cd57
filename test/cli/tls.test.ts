import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { selfSigned } from "../support/certificate.ts";
import { livingWorld } from "../support/writ.ts";

/** Answers as a node and as a model server would, and keeps who asked with which key. */
function tlsServer(hostname = "127.0.0.1") {
  const certificate = selfSigned();
  const keys: (string | null)[] = [];
  const server = Bun.serve({
    hostname,
    port: 0,
    tls: { cert: certificate.cert, key: certificate.key },
    fetch(request) {
      keys.push(request.headers.get("authorization"));
      return Response.json({ data: [{ id: "m" }] });
    },
  });
  return { port: server.port, cert: certificate.cert, keys, [Symbol.dispose]: () => void server.stop(true) };
}

// Other tools are told to look away with this variable, and it stays in the environment for all.
const LOOKING_AWAY = { NODE_TLS_REJECT_UNAUTHORIZED: "0", SECRET_KEY: "a-key-of-sixteen-and-more" };

function configOf(port: number | undefined, ca_file: string, host = "localhost"): string {
  const url = `https://${host}:${port}`;
  const seat = { name: "s", base_url: url, model: "m", engine: "openai", ctx_tokens: 4096, api_key_env: "SECRET_KEY" };
  const remote = { url, token_env: "SECRET_KEY", ...(ca_file === "" ? {} : { ca_file }) };
  return JSON.stringify({ seats: [seat], remotes: [remote] });
}

test("neither a node nor a seat gets a key under a certificate that nobody vouches for, whatever the environment says", async () => {
  using server = tlsServer();
  using world = livingWorld(LOOKING_AWAY);
  const file = join(world.folder, "config.json");
  writeFileSync(file, configOf(server.port, ""));
  const status = await world.writ(["node", "status", `https://localhost:${server.port}`, "--config", file]);
  expect(status).toMatchObject({ exit: 4, stderr: expect.stringContaining("SELF_SIGNED") });
  const doctor = await world.writ(["doctor", "--config", file]);
  expect(doctor.stdout).toContain("SELF_SIGNED");
  expect(server.keys).toEqual([]);
});

// Elsewhere 127.0.0.2 is no address of this machine.
test.skipIf(process.platform !== "linux")(
  "nor under the certificate of another name, also where ca_file vouches for it",
  async () => {
    using server = tlsServer("127.0.0.2");
    using world = livingWorld(LOOKING_AWAY);
    const [file, ca] = [join(world.folder, "config.json"), join(world.folder, "ca.pem")];
    writeFileSync(ca, server.cert);
    writeFileSync(file, configOf(server.port, ca, "127.0.0.2"));
    const status = await world.writ(["node", "status", `https://127.0.0.2:${server.port}`, "--config", file]);
    expect(status.exit).toBe(4);
    expect(status.stderr).toContain("the exchange failed");
    expect(server.keys).toEqual([]);
  },
);

test("with ca_file and the right name the bearer goes out", async () => {
  using server = tlsServer();
  using world = livingWorld(LOOKING_AWAY);
  const [file, ca] = [join(world.folder, "config.json"), join(world.folder, "ca.pem")];
  writeFileSync(ca, server.cert);
  writeFileSync(file, configOf(server.port, ca));
  await world.writ(["node", "status", `https://localhost:${server.port}`, "--config", file]);
  expect(server.keys).toEqual([`Bearer ${LOOKING_AWAY.SECRET_KEY}`]);
});
