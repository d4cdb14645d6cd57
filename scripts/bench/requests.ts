/**
 * The least that can be compared with a delegated leg: makes requests one behind the other, reads each answer to its
 * end, and judges nothing. A job id in them is replaced by a new one, so that a node has something to run.
 *
 * Usage: requests FILE BASE   FILE: JSON, a list of {"method", "path", "body", "stream"}; "stream" is asked for as events
 */
const [file = "", base = ""] = process.argv.slice(2);

type Asked = { readonly method: string; readonly path: string; readonly body: string; readonly stream: boolean };

const fresh = `wrt-${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
const text = (await Bun.file(file).text()).replaceAll(/wrt-[0-9a-f]{24}/g, fresh);
for (const { method, path, body, stream } of JSON.parse(text) as readonly Asked[]) {
  const response = await fetch(`${base}${path}`, {
    method,
    headers: {
      ...(body === "" ? {} : { "content-type": "application/json" }),
      ...(stream ? { accept: "text/event-stream" } : {}),
    },
    ...(body === "" ? {} : { body }),
  });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`${method} ${path}: HTTP ${response.status}`);
}

export {};
