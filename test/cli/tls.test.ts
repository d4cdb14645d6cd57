import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { selfSigned } from "../support/certificate.ts";
import { deadPort } from "../support/raw-server.ts";
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
    expect(status.stderr).toContain("its certificate is for another name than that of the URL");
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

describe("what is wrong with a connection is told with what helps against it, by node status and by the doctor", () => {
  type Setting = {
    readonly tls: number | undefined;
    readonly plain: number | undefined;
    readonly dead: number;
    readonly folder: string;
  };
  const cases: readonly [string, (at: Setting) => { url: string; ca_file?: string }, string, string][] = [
    [
      "http to TLS",
      ({ tls }) => ({ url: `http://127.0.0.1:${tls}` }),
      "the connection broke",
      "If it serves with TLS: https://",
    ],
    [
      "TLS to http",
      ({ plain }) => ({ url: `https://127.0.0.1:${plain}` }),
      "does not speak TLS",
      "If it serves without TLS: http://",
    ],
    [
      "no ca_file",
      ({ tls }) => ({ url: `https://localhost:${tls}` }),
      "nobody whom this machine trusts",
      "in ca_file of the remote",
    ],
    [
      "a ca_file that is not there",
      ({ tls, folder }) => ({ url: `https://localhost:${tls}`, ca_file: join(folder, "none.pem") }),
      'none.pem", which ca_file names, is not there',
      "Mend ca_file",
    ],
    [
      "a ca_file that is something else",
      ({ tls, folder }) => ({ url: `https://localhost:${tls}`, ca_file: join(folder, "config.json") }),
      "holds no PEM certificate",
      "Mend ca_file",
    ],
    [
      "another server",
      ({ plain }) => ({ url: `http://127.0.0.1:${plain}` }),
      "HTTP 404",
      "a model server is named in seats",
    ],
    [
      "nobody",
      ({ dead }) => ({ url: `http://127.0.0.1:${dead}` }),
      "connection refused",
      "Start it there with: writ node serve",
    ],
    [
      "a host that nobody knows",
      () => ({ url: "http://no-such-host.invalid:1" }),
      "no host of that name",
      "Mend the host's name",
    ],
  ];
  test.each(cases)("%s", async (_, remoteOf, message, hint) => {
    using server = tlsServer();
    using world = livingWorld();
    const plain = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response("", { status: 404 }) });
    try {
      const remote = remoteOf({ tls: server.port, plain: plain.port, dead: await deadPort(), folder: world.folder });
      const file = join(world.folder, "config.json");
      writeFileSync(file, JSON.stringify({ remotes: [remote] }));
      const status = await world.writ(["node", "status", remote.url, "--config", file]);
      expect(status.exit).toBe(4);
      expect(status.stderr).toContain(message);
      expect(status.stderr).toContain(hint);
      const doctor = await world.writ(["doctor", "--remote", remote.url, "--config", file]);
      expect([doctor.exit, doctor.stdout.replaceAll(/\s+/g, " ")]).toEqual([1, expect.stringContaining(hint)]);
    } finally {
      await plain.stop(true);
    }
  });
});

test("the doctor fails the certificate with which node serve does not start, and reads the one with which it does", async () => {
  using world = livingWorld();
  const [file, cert, key] = ["config.json", "c.pem", "c.key"].map((name) => join(world.folder, name)) as [
    string,
    string,
    string,
  ];
  const [own, other] = [selfSigned(), selfSigned()];
  writeFileSync(file, JSON.stringify({ node: { id: "n", listen: "127.0.0.1:0", tls_cert: cert, tls_key: key } }));
  writeFileSync(cert, own.cert);
  const doctor = async () => {
    const { stdout } = await world.writ(["doctor", "--config", file, "--json"]);
    const { findings } = JSON.parse(stdout) as { findings: { check: string; outcome: string; message: string }[] };
    return findings
      .filter(({ check }) => check === "node listener")
      .map(({ outcome, message }) => [outcome, message])[1];
  };
  for (const [text, why] of [
    [null, "which node.tls_key names"],
    ["no key", "cannot be used"],
    [other.key, "cannot be used"],
  ] as const) {
    if (text !== null) writeFileSync(key, text);
    expect((await world.writ(["node", "serve", "--config", file])).exit).toBe(2);
    expect(await doctor()).toEqual(["FAIL", expect.stringContaining(why)]);
  }
  writeFileSync(key, own.key);
  expect(await doctor()).toEqual([
    "PASS",
    "The key is that of the certificate, which is for DNS:localhost, IP Address:127.0.0.1 and ends at 2049-12-31T23:59:59Z",
  ]);
});
