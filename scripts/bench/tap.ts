/** Stands before a server and keeps what it is asked, so that the same can be asked again by hand. */

export type Asked = {
  readonly method: string;
  readonly path: string;
  readonly body: string;
  /** Answered as a stream of events where it was asked for so. */
  readonly stream: boolean;
};

export type Tap = { readonly url: string; readonly asked: readonly Asked[]; close(): Promise<void> };

/** @param target the base URL of the server */
export function openTap(target: string): Tap {
  const asked: Asked[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const path = `${pathname}${search}`;
      const body = await request.text();
      const stream = request.headers.get("accept") === "text/event-stream";
      asked.push({ method: request.method, path, body, stream });
      const headers = new Headers(request.headers);
      for (const name of ["host", "connection", "content-length", "accept-encoding"]) headers.delete(name);
      return await fetch(`${target}${path}`, {
        method: request.method,
        headers,
        ...(body === "" ? {} : { body }),
        signal: request.signal,
      });
    },
  });
  return { url: server.url.origin, asked, close: () => server.stop(true) };
}
