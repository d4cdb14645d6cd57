/**
 * A real Chromium without a window, told what to do over its own protocol: a page at a time, what it asked for, what
 * went wrong on it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Programs that would do, in the order in which they are looked for. */
const NAMES = ["chromium", "chromium-browser", "chromium-headless-shell", "google-chrome"];

/** How long one command of the protocol may take. */
const LIMIT_MS = 20_000;

/** The path of a Chromium that runs, or null. `WRIT_CHROMIUM` names another. */
export function chromiumPath(): string | null {
  const named = process.env.WRIT_CHROMIUM ?? "";
  const paths = named === "" ? NAMES.flatMap((name) => Bun.which(name) ?? []) : [named];
  // Some systems put a program of that name there which only says where to get the real one.
  return paths.find((path) => Bun.spawnSync([path, "--version"], { timeout: 20_000 }).exitCode === 0) ?? null;
}

export type Screen = {
  readonly width: number;
  readonly height?: number;
  readonly scheme?: "light" | "dark";
  /** False: the page is shown as to a browser without scripts. */
  readonly scripts?: boolean;
};

export type Page = {
  /** Loads an address and waits until the page has loaded. */
  goto(url: string): Promise<void>;
  /** The value of an expression, which may be a promise. Works without the page's own scripts as well. */
  evaluate<T>(expression: string): Promise<T>;
  /** Clicks the middle of the first element of a selector with the mouse. */
  click(selector: string): Promise<void>;
  /** Clicks, and waits until the page that it leads to has loaded. */
  follow(selector: string): Promise<void>;
  type(text: string): Promise<void>;
  press(key: "Enter" | "Tab" | "Escape"): Promise<void>;
  /** Asks until the expression is true. */
  until(expression: string): Promise<void>;
  /** What a screen reader is told: the role and the name of each part, in order. */
  spoken(): Promise<readonly { readonly role: string; readonly name: string }[]>;
  /** PNG. */
  screenshot(path: string, whole?: boolean): Promise<void>;
  /** Every address that was asked for. */
  readonly requests: readonly string[];
  /** What the console, the security policy and uncaught errors said. */
  readonly complaints: readonly string[];
};

export type Browser = {
  open(screen: Screen): Promise<Page>;
  close(): Promise<void>;
};

type Message = {
  readonly id?: number;
  readonly sessionId?: string;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
};

export async function openBrowser(path: string): Promise<Browser> {
  const folder = mkdtempSync(join(tmpdir(), "writ-chromium-"));
  const child = Bun.spawn(
    [
      path,
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--disable-dev-shm-usage",
      `--user-data-dir=${folder}`,
      "--remote-debugging-port=0",
      "about:blank",
    ],
    { stdin: "ignore", stdout: "ignore", stderr: "pipe" },
  );
  const wire = await connect(await debuggerUrl(child.stderr));
  return {
    open: (screen) => openPage(wire, screen),
    async close() {
      wire.close();
      child.kill("SIGTERM");
      await child.exited;
      rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The address that the browser prints when it is ready. Goes on reading, so that its talk never fills the pipe. */
async function debuggerUrl(stderr: ReadableStream<Uint8Array>): Promise<string> {
  return await new Promise((resolve, reject) => {
    void (async () => {
      const decoder = new TextDecoder();
      let talk = "";
      for await (const chunk of stderr) {
        talk = (talk + decoder.decode(chunk, { stream: true })).slice(-20_000);
        const url = /DevTools listening on (ws:\S+)/.exec(talk)?.[1];
        if (url !== undefined) resolve(url);
      }
      reject(new Error(`Chromium ended before it was ready: ${talk}`));
    })();
  });
}

type Wire = {
  send<T = Record<string, unknown>>(method: string, params?: object, sessionId?: string): Promise<T>;
  listen(sessionId: string, hear: (message: Message) => void): void;
  close(): void;
};

async function connect(url: string): Promise<Wire> {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error(`Cannot connect to ${url}`));
  });
  const waiting = new Map<number, (message: Message) => void>();
  const ears = new Map<string, (message: Message) => void>();
  socket.onmessage = ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) waiting.get(message.id)?.(message);
    else ears.get(message.sessionId ?? "")?.(message);
  };
  let last = 0;
  return {
    send<T>(method: string, params: object = {}, sessionId?: string) {
      const id = ++last;
      return new Promise<T>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error(`${method} was not answered`)), LIMIT_MS);
        waiting.set(id, ({ result, error }) => {
          clearTimeout(timer);
          waiting.delete(id);
          if (error === undefined) resolve(result as T);
          else reject(new Error(`${method}: ${error.message}`));
        });
        socket.send(JSON.stringify({ id, method, params, ...(sessionId === undefined ? {} : { sessionId }) }));
      });
    },
    listen: (sessionId, hear) => void ears.set(sessionId, hear),
    close: () => socket.close(),
  };
}

async function openPage(wire: Wire, screen: Screen): Promise<Page> {
  const { width, height = 900, scheme = "light", scripts = true } = screen;
  const { targetId } = await wire.send<{ targetId: string }>("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await wire.send<{ sessionId: string }>("Target.attachToTarget", { targetId, flatten: true });
  const send = <T = Record<string, unknown>>(method: string, params: object = {}) =>
    wire.send<T>(method, params, sessionId);
  const requests: string[] = [];
  const complaints: string[] = [];
  let loads = 0;
  let wake = () => {};
  wire.listen(sessionId, ({ method, params = {} }) => {
    if (method === "Network.requestWillBeSent") requests.push((params.request as { url: string }).url);
    if (method === "Log.entryAdded") complaints.push((params.entry as { text: string }).text);
    if (method === "Runtime.exceptionThrown") complaints.push(JSON.stringify(params.exceptionDetails));
    if (method === "Runtime.consoleAPICalled") complaints.push(JSON.stringify(params.args));
    if (method === "Page.javascriptDialogOpening") complaints.push(`dialog: ${params.message}`);
    if (method !== "Page.loadEventFired") return;
    loads += 1;
    wake();
  });
  for (const domain of ["Page", "Runtime", "Network", "Log"]) await send(`${domain}.enable`);
  await send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 600 });
  await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  if (!scripts) await send("Emulation.setScriptExecutionDisabled", { value: true });

  const loaded = async (act: () => Promise<unknown>) => {
    const before = loads;
    await act();
    const began = Date.now();
    while (loads === before) {
      if (Date.now() - began > LIMIT_MS) throw new Error("The page did not load");
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, 250);
      });
    }
  };
  const evaluate = async <T>(expression: string): Promise<T> => {
    const { result, exceptionDetails } = await send<{ result: { value: T }; exceptionDetails?: unknown }>(
      "Runtime.evaluate",
      { expression, awaitPromise: true, returnByValue: true },
    );
    if (exceptionDetails !== undefined) throw new Error(JSON.stringify(exceptionDetails));
    return result.value;
  };
  const click = async (selector: string) => {
    const place = await evaluate<{ x: number; y: number } | null>(`(() => {
      const element = document.querySelector(${JSON.stringify(selector)});
      if (element === null) return null;
      element.scrollIntoView({ block: "center", behavior: "instant" });
      const box = (element.getClientRects()[0] ?? element.getBoundingClientRect());
      return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    })()`);
    if (place === null) throw new Error(`There is no ${selector}`);
    for (const type of ["mousePressed", "mouseReleased"]) {
      await send("Input.dispatchMouseEvent", { type, ...place, button: "left", clickCount: 1 });
    }
  };
  return {
    requests,
    complaints,
    evaluate,
    click,
    goto: (url) => loaded(() => send("Page.navigate", { url })),
    follow: (selector) => loaded(() => click(selector)),
    type: async (text) => void (await send("Input.insertText", { text })),
    async press(key) {
      const text = key === "Enter" ? "\r" : "";
      const code = { Enter: 13, Tab: 9, Escape: 27 }[key];
      const event = { key, code: key, text, windowsVirtualKeyCode: code };
      await send("Input.dispatchKeyEvent", { type: "keyDown", ...event });
      await send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
    },
    async until(expression) {
      const began = Date.now();
      while (!(await evaluate<boolean>(expression))) {
        if (Date.now() - began > LIMIT_MS) throw new Error(`It never became true: ${expression}`);
        await Bun.sleep(50);
      }
    },
    async spoken() {
      const { nodes } = await send<{ nodes: readonly AccessibleNode[] }>("Accessibility.getFullAXTree");
      return nodes
        .filter((node) => !node.ignored)
        .map((node) => ({ role: node.role?.value ?? "", name: node.name?.value ?? "" }));
    },
    async screenshot(path, whole = false) {
      const { data } = await send<{ data: string }>("Page.captureScreenshot", {
        captureBeyondViewport: whole,
        ...(whole ? { clip: await wholeClip(send) } : {}),
      });
      await Bun.write(path, Buffer.from(data, "base64"));
    },
  };
}

type AccessibleNode = {
  readonly ignored: boolean;
  readonly role?: { readonly value: string };
  readonly name?: { readonly value: string };
};

async function wholeClip(send: <T>(method: string, params?: object) => Promise<T>): Promise<object> {
  const { cssContentSize } = await send<{ cssContentSize: { width: number; height: number } }>("Page.getLayoutMetrics");
  return { x: 0, y: 0, width: cssContentSize.width, height: Math.min(cssContentSize.height, 6000), scale: 1 };
}
