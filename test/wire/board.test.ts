import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import type { Answer, Ask } from "../../src/core/board/answer.ts";
import { WritError } from "../../src/core/error.ts";
import { type BoardServer, LIMITS, serveBoard } from "../../src/wire/board.ts";

const TOKEN = "correct-horse_battery";
let server: BoardServer;
let asked: Ask[];
let defects: unknown[];
let answer: (ask: Ask) => Answer;

beforeEach(async () => {
  asked = [];
  defects = [];
  answer = () => ({ status: 200, type: "text/html; charset=utf-8", body: "<p>é</p>" });
  const service = {
    port: 0,
    token: TOKEN,
    answer: (ask: Ask) => {
      asked.push(ask);
      return answer(ask);
    },
    onDefect: (error: unknown) => void defects.push(error),
  };
  server = await serveBoard(service, { ...LIMITS, header_ms: 1000, idle_ms: 1500 });
});
afterEach(() => server.close());

/** Says exactly this on a connection of its own, and answers what came until it was closed. */
function say(text: string | Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    let heard = "";
    const socket = connect(server.port, "127.0.0.1", () => socket.write(text));
    socket.on("data", (data) => {
      heard += data.toString("utf8");
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(heard));
  });
}

function request(line: string, host = `127.0.0.1:${server.port}`, more = ""): Promise<string> {
  return say(`${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${more}\r\n`);
}

function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
}

describe("the token", () => {
  test.each([
    ["/"],
    ["/wrong/"],
    [`/${TOKEN.slice(0, -1)}/`],
    [`/${TOKEN}x/`],
    [`/${TOKEN.toUpperCase()}/`],
    [`//${TOKEN}/`],
    [`/x/${TOKEN}/`],
    [`/?${TOKEN}`],
    [`/%63${TOKEN.slice(1)}/`],
    ["/board.css"],
    ["/favicon.ico"],
    ["/constructor/"],
  ])("is asked for first: %j is 404, and nothing is looked at", async (path) => {
    const heard = await request(`GET ${path}`);
    expect(statusOf(heard)).toBe(404);
    expect(heard).toContain("\r\n\r\nNot found\n");
    expect(asked).toEqual([]);
  });

  test.each(["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])(
    "is asked for before the method: %s is 404",
    async (method) => {
      expect(statusOf(await request(`${method} /wrong/`))).toBe(404);
      expect(statusOf(await request(`${method} /wrong/`, "evil.example"))).toBe(404);
    },
  );

  test("opens the board, and what stands behind it is handed over as it was sent", async () => {
    expect(statusOf(await request(`GET /${TOKEN}/`))).toBe(200);
    await request(`GET /${TOKEN}/turn/4?part=2&x=%3Cb%3E`);
    await request(`GET /${TOKEN}/..%2f../etc/passwd`);
    expect(asked).toEqual([
      { path: "", query: "" },
      { path: "turn/4", query: "part=2&x=%3Cb%3E" },
      { path: "..%2f../etc/passwd", query: "" },
    ]);
  });

  test("without its slash leads to the page with it", async () => {
    const heard = await request(`GET /${TOKEN}`);
    expect(statusOf(heard)).toBe(308);
    expect(heard).toContain(`\r\nLocation: /${TOKEN}/\r\n`);
  });
});

describe("the host", () => {
  test("is a name of the loopback address with the port, else the request is misdirected", async () => {
    const port = server.port;
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `LOCALHOST:${port}`, `[::1]:${port}`]) {
      expect(statusOf(await request(`GET /${TOKEN}/`, host))).toBe(200);
    }
    const strangers = ["evil.example", `evil.example:${port}`, "127.0.0.1", `127.0.0.1:${port + 1}`, "localhost"];
    for (const host of [
      ...strangers,
      `127.0.0.1.evil.example:${port}`,
      `localhost.:${port}`,
      `127.0.0.1:${port}@evil`,
    ]) {
      expect(statusOf(await request(`GET /${TOKEN}/`, host))).not.toBe(200);
    }
    expect(statusOf(await request(`GET /${TOKEN}/`, `evil.example:${port}`))).toBe(421);
    expect(asked).toHaveLength(4);
  });

  test("is needed", async () => {
    expect(statusOf(await say(`GET /${TOKEN}/ HTTP/1.0\r\n\r\n`))).not.toBe(200);
  });

  test("is the only one that is listened to", async () => {
    const reached = await new Promise((resolve) => {
      const socket = connect(server.port, "127.0.0.2");
      socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
    });
    expect(reached).toBe(false);
  });
});

describe("methods", () => {
  test("HEAD is GET without a body", async () => {
    const get = await request(`GET /${TOKEN}/`);
    const head = await request(`HEAD /${TOKEN}/`);
    const header = (heard: string) => heard.split("\r\n\r\n")[0]?.replace(/\r\nDate: [^\r]*/, "");
    expect(header(head)).toBe(header(get));
    expect(head).toEndWith("\r\n\r\n");
    expect(get).toEndWith("<p>é</p>");
    expect(get).toContain("Content-Length: 9\r\n");
  });

  test.each(["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])("%s is 405 and reaches nothing", async (method) => {
    const body = "Content-Length: 5\r\n\r\nhello";
    const heard = await request(`${method} /${TOKEN}/`, undefined, body);
    expect(statusOf(heard)).toBe(405);
    expect(heard).toContain("\r\nAllow: GET, HEAD\r\n");
    expect(asked).toEqual([]);
  });

  test("a GET that brings a body is answered, and its connection is not used again", async () => {
    const smuggled = `GET /${TOKEN}/second HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`;
    const heard = await say(
      `GET /${TOKEN}/first HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    );
    expect(heard.match(/HTTP\/1\.1 200/g)).toHaveLength(1);
    expect(asked.map((ask) => ask.path)).toEqual(["first"]);
  });
});

describe("answers", () => {
  test.each([
    ["Content-Security-Policy", /default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/],
    ["Cache-Control", /^no-store$/],
    ["X-Content-Type-Options", /^nosniff$/],
    ["Referrer-Policy", /^no-referrer$/],
    ["X-Frame-Options", /^DENY$/],
    ["Cross-Origin-Resource-Policy", /^same-origin$/],
  ])("carry %s, whatever their status", async (name, value) => {
    for (const path of [server.url, `http://127.0.0.1:${server.port}/wrong/`]) {
      const response = await fetch(path);
      expect(response.headers.get(name)).toMatch(value);
      expect(response.headers.get("Access-Control-Allow-Origin")).toBeNull();
    }
  });

  test("allow no script and no style from text", async () => {
    const policy = (await fetch(server.url)).headers.get("Content-Security-Policy") ?? "";
    expect(policy).not.toMatch(/unsafe|data:|\*|https?:/);
  });

  test("say nothing of a defect to whoever asked", async () => {
    answer = () => {
      throw new TypeError("the secret path /home/x");
    };
    const response = await fetch(server.url);
    expect([response.status, await response.text()]).toEqual([500, "This is a defect in writ\n"]);
    expect(String(defects[0])).toContain("the secret path");
  });

  test("are right for many requests at once", async () => {
    answer = (ask) => ({ status: 200, type: "text/plain", body: ask.path.repeat(2000) });
    const paths = Array.from({ length: 60 }, (_, index) => `page-${index}`);
    const bodies = new Map<string, string>();
    const left = [...paths];
    const lane = async () => {
      for (let path = left.pop(); path !== undefined; path = left.pop()) {
        bodies.set(path, await (await fetch(server.url + path)).text());
      }
    };
    await Promise.all(Array.from({ length: 12 }, lane));
    for (const path of paths) expect(bodies.get(path)).toBe(path.repeat(2000));
  });

  test("to an address that is too long are 414, to a header that is too long 431", async () => {
    expect(statusOf(await request(`GET /${TOKEN}/?q=${"x".repeat(LIMITS.url_characters)}`))).toBe(414);
    const heard = await request(`GET /${TOKEN}/`, undefined, `X: ${"y".repeat(LIMITS.header_bytes)}\r\n`);
    expect(statusOf(heard)).toBe(431);
    expect(asked).toEqual([]);
  });

  test.each([
    ["noise", "\x16\x03\x01\x02\x00 garbage\r\n\r\n"],
    ["a method that is none", "<script> / HTTP/1.1\r\nHost: x\r\n\r\n"],
    ["a target that is no path", "GET * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"],
    ["a header without a colon", "GET / HTTP/1.1\r\nnonsense\r\n\r\n"],
    ["two lengths", "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"],
  ])("to %s are an error, and the server goes on", async (_, text) => {
    const heard = await say(text);
    expect(heard === "" || statusOf(heard) >= 400).toBe(true);
    expect((await fetch(server.url)).status).toBe(200);
  });
});

/** Connections that say the beginning of a request and no more. */
function half(count: number): readonly Socket[] {
  return Array.from({ length: count }, () => {
    const socket = connect(server.port, "127.0.0.1", () => socket.write("GET / HTTP/1.1\r\nX: "));
    return socket.on("error", () => {});
  });
}

describe("slow clients", () => {
  test("a header that does not end is given up, also when it goes on letter by letter", async () => {
    const ended = await new Promise<string>((resolve) => {
      let heard = "";
      const socket = connect(server.port, "127.0.0.1", () => socket.write("GET / HTTP/1.1\r\nX: "));
      const letters = setInterval(() => socket.write("y"), 50);
      socket.on("data", (data) => {
        heard += data.toString();
      });
      socket.on("error", () => {});
      socket.on("close", () => {
        clearInterval(letters);
        resolve(heard);
      });
    });
    expect(ended).toStartWith("HTTP/1.1 408");
  });

  test("do not keep others waiting", async () => {
    const sockets = half(LIMITS.connections - 4);
    expect((await fetch(server.url)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  test("are at most a few: one connection more is closed unheard, and there is room again when they go", async () => {
    const sockets = half(LIMITS.connections);
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));
    expect(await request(`GET /${TOKEN}/`)).toBe("");
    await Promise.all(
      sockets.map(
        (socket) =>
          new Promise((resolve) => {
            socket.once("close", resolve);
            socket.destroy();
          }),
      ),
    );
    let status = 0;
    while (status !== 200) status = statusOf(await request(`GET /${TOKEN}/`));
    expect(asked.map((ask) => ask.path)).toEqual([""]);
  });

  test("one that does not read its answer is given up", async () => {
    answer = () => ({ status: 200, type: "text/plain", body: "x".repeat(32 * 1024 * 1024) });
    await new Promise<void>((resolve) => {
      const socket = connect(server.port, "127.0.0.1", () => {
        socket.write(`GET /${TOKEN}/ HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\n\r\n`);
        socket.pause();
        // What was sent meanwhile is read after the server must have given up: then the end comes before the whole.
        setTimeout(() => socket.resume(), 4000);
      });
      let bytes = 0;
      socket.on("data", (data) => {
        bytes += data.length;
      });
      socket.on("error", () => {});
      socket.on("close", () => {
        expect(bytes).toBeLessThan(32 * 1024 * 1024);
        resolve();
      });
    });
  });

  test("do not keep the server from ending", async () => {
    const sockets = half(5);
    await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));
    const closed = sockets.map((socket) => new Promise((resolve) => socket.once("close", resolve)));
    await server.close();
    await Promise.all(closed);
    expect(await fetch(server.url).catch(() => "refused")).toBe("refused");
  });
});

describe("the port", () => {
  test("is the one that was asked for, and taken is an error with a code", async () => {
    const again = serveBoard({ port: server.port, token: TOKEN, answer, onDefect: () => {} });
    const error = await again.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WritError);
    expect(error).toMatchObject({ code: "port_unavailable", message: `Port ${server.port} is taken` });
  });

  test("stands in the URL, with the token", () => {
    expect(server.url).toBe(`http://127.0.0.1:${server.port}/${TOKEN}/`);
  });
});
