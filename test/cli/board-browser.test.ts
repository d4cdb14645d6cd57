/** The board as a person sees it: the real command and a real browser. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type RunningBoard, startBoard } from "../support/board.ts";
import { type Browser, chromiumPath, openBrowser, type Page, type Screen } from "../support/browser.ts";
import { type LivingWorld, livingWorld } from "../support/writ.ts";

const path = chromiumPath();
if (path === null)
  console.warn("Skipped: the tests of the board that need Chromium; install chromium, or name one with WRIT_CHROMIUM");

const WIDE: Screen = { width: 1600 };
const NARROW: Screen = { width: 360, height: 740 };
const HOSTILE = `<script>document.title="owned"</script>"><img src=x onerror="document.title='owned'">\u202egnp.exe`;

describe.skipIf(path === null)("the board in a browser (needs Chromium)", () => {
  let world: LivingWorld;
  let board: RunningBoard;
  let browser: Browser;

  beforeAll(async () => {
    world = livingWorld();
    await fillWorld(world);
    board = await startBoard(world);
    browser = await openBrowser(path ?? "");
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await board?.stop();
    world?.[Symbol.dispose]();
  });

  async function open(place: string, screen: Screen): Promise<Page> {
    const page = await browser.open(screen);
    await page.goto(board.url + place);
    return page;
  }

  const shownText = (page: Page) => page.evaluate<string>("document.querySelector('main').innerText");

  test("is whole without scripts, and asks for nothing but its own files", async () => {
    const page = await open("", { ...WIDE, scripts: false });
    const text = await shownText(page);
    for (const word of ["Waiting for someone", "Blocked", "Complete", "Mend the total", "exit 3", "Dispatched"]) {
      expect(text).toContain(word);
    }
    expect(await page.evaluate("document.getElementById('live').hidden")).toBe(true);
    expect(page.requests.every((url) => url.startsWith(board.url))).toBe(true);
    expect(page.complaints).toEqual([]);
  });

  test("is clicked through: a turn, its record, a page of a state, approvals, back", async () => {
    const page = await open("", WIDE);
    await page.follow(".card h3 a[href$='turn/1']");
    expect(await page.evaluate<string>("document.querySelector('h1').innerText")).toContain("mender");
    expect(await shownText(page)).toContain("The chain of 2 records is whole");
    await page.follow(".tabs a[href*='show=runs']");
    expect(await page.evaluate("document.querySelectorAll('.moment.write').length")).toBe(0);
    await page.click("#run-2 summary");
    await page.until("document.querySelector('#run-2 details').open");
    expect(await page.evaluate<string>("document.querySelector('#run-2 details').innerText")).toContain("3 passed");
    await page.follow("nav[aria-label=Pages] a:first-child");
    await page.follow(".counts a[data-group=BLOCKED]");
    expect(await page.evaluate<string>("document.querySelector('h1').innerText")).toContain("Blocked");
    expect(await page.evaluate("document.querySelectorAll('.card').length")).toBe(1);
    await page.follow("nav[aria-label=Pages] a:last-child");
    expect(await shownText(page)).toContain("npm publish");
    await page.follow(".mark");
    expect(await shownText(page)).toContain("At work");
    expect(page.complaints).toEqual([]);
  });

  test("filters what it shows while one types, and asks the store on Enter", async () => {
    const page = await open("", WIDE);
    const visible = () =>
      page.evaluate<number>("[...document.querySelectorAll('.card')].filter((one) => one.checkVisibility()).length");
    const all = await visible();
    await page.click("#q");
    await page.type("total");
    await page.until("[...document.querySelectorAll('.card')].some((one) => !one.checkVisibility())");
    const some = await visible();
    expect(some).toBeGreaterThan(0);
    expect(some).toBeLessThan(all);
    await page.press("Enter");
    await page.until("location.search.includes('q=total')");
    await page.until("document.readyState === 'complete'");
    expect(await shownText(page)).toContain("Mend the total");
    expect(await shownText(page)).not.toContain("Move the table");
  });

  test("shows what happens while it is looked at, and leaves open what is open", async () => {
    const id = await world.born("--goal", "Be watched");
    await world.writ(["run", "--contract-id", id, "--", "echo", "one"]);
    const list = await open("", WIDE);
    const place = await list.evaluate<string>(
      "[...document.querySelectorAll('.card')].find((one) => one.innerText.includes('Be watched')).querySelector('a').getAttribute('href')",
    );
    const page = await open(place.slice(2), WIDE);
    await page.click("#run-1 summary");
    await page.until("document.querySelector('#run-1 details').open");
    await world.writ(["run", "--contract-id", id, "--", "echo", "two"]);
    await page.until("document.getElementById('run-2') !== null");
    expect(await page.evaluate("document.querySelector('#run-1 details').open")).toBe(true);

    await page.click("#live");
    await page.until("document.getElementById('said').innerText === 'Paused'");
    expect(await page.evaluate("document.getElementById('live').getAttribute('aria-pressed')")).toBe("false");
    await world.writ(["run", "--contract-id", id, "--", "echo", "three"]);
    await page.click("#live");
    await page.until("document.getElementById('run-3') !== null");
    expect(page.complaints).toEqual([]);
  }, 60_000);

  test("shows hostile text as text", async () => {
    for (const place of ["", "turn/3", "approvals", "?state=any"]) {
      const page = await open(place, WIDE);
      expect(await page.evaluate<string>("document.title")).not.toBe("owned");
      expect(
        await page.evaluate("document.querySelectorAll('main script, main img, main iframe, [onerror]').length"),
      ).toBe(0);
      if (place !== "approvals") {
        expect(await shownText(page)).toContain(`<script>document.title="owned"</script>"><img src=x`);
        expect(await shownText(page)).toContain("U+202E");
      }
      expect(page.complaints).toEqual([]);
    }
    const page = await open("turn/3", WIDE);
    await page.click("#run-2 summary");
    expect(await shownText(page)).toContain("998,996 bytes here were not kept");
  });

  test.each([WIDE, NARROW])("fits a screen of $width: nothing has to be scrolled sideways", async (screen) => {
    for (const place of ["", "turn/1", "turn/3", "approvals", "?state=any", "turn/999"]) {
      const page = await browser.open(screen);
      await page.goto(board.url + place);
      expect([place, await page.evaluate("document.documentElement.scrollWidth <= innerWidth")]).toEqual([place, true]);
      const outside = await page.evaluate(
        "[...document.querySelectorAll('main *')].filter((one) => one.checkVisibility() && !one.closest('.unseen') && one.getBoundingClientRect().right > innerWidth + 1).length",
      );
      expect([place, outside]).toEqual([place, 0]);
    }
  });

  test.each(["light", "dark"] as const)("has enough contrast in %s", async (scheme) => {
    for (const place of ["", "turn/1", "turn/3", "approvals", "?state=any"]) {
      const page = await open(place, { ...WIDE, scheme });
      expect(await page.evaluate<readonly string[]>(CONTRAST)).toEqual([]);
    }
  });

  test("is sane for a keyboard and a screen reader", async () => {
    const page = await open("turn/1", WIDE);
    await page.press("Tab");
    expect(await page.evaluate<string>("document.activeElement.innerText")).toBe("Skip to the content");
    await page.press("Enter");
    await page.until("document.activeElement.id === 'main'");
    const spoken = await page.spoken();
    const roles = spoken.map((part) => part.role);
    for (const role of ["banner", "main", "contentinfo", "navigation"]) expect(roles).toContain(role);
    const named = ["link", "button", "searchbox", "combobox", "navigation", "region", "DisclosureTriangle", "search"];
    for (const part of spoken) if (named.includes(part.role)) expect(part).not.toMatchObject({ name: "" });

    const first = await open("", WIDE);
    const words = (await first.spoken()).map((part) => `${part.role} ${part.name}`);
    expect(words).toContain("searchbox Search");
    expect(words).toContain("combobox State");
    expect(words.some((word) => word.startsWith("region Blocked 1"))).toBe(true);
    const levels = await first.evaluate<readonly number[]>(
      "[...document.querySelectorAll('h1, h2, h3')].map((one) => Number(one.tagName[1]))",
    );
    expect(levels[0]).toBe(1);
    expect(levels.every((level, index) => index === 0 || level <= (levels[index - 1] ?? 0) + 1)).toBe(true);
  });

  test("says so when the board has ended", async () => {
    const other = await startBoard(world);
    const page = await browser.open(WIDE);
    await page.goto(other.url);
    await other.stop();
    await page.until("document.getElementById('said').innerText.startsWith('Not connected')");
    expect(await shownText(page)).toContain("Mend the total");
  }, 60_000);
});

/** Turns in several states, the third of them hostile in every field that a command takes. */
async function fillWorld(world: LivingWorld): Promise<void> {
  const close = async (id: string, state: string, next: string, report: object = {}) => {
    const patch = { agent_status: { agent_state: state, next_action: next }, conclusion: `It is ${state}.`, ...report };
    await world.writ(["contract", "fill", "--draft-id", id, "--json", JSON.stringify(patch)]);
    const ran = await world.writ(["contract", "finalize", "--contract-id", id]);
    if (ran.exit !== 0) throw new Error(`finalize ended in ${ran.exit}: ${ran.stdout}${ran.stderr}`);
  };
  const mended = await bornAs(world, "mender", "Mend the total");
  await world.writ(["run", "--contract-id", mended, "--", "sh", "-c", "echo 1 failed; exit 3"]);
  await world.writ(["run", "--contract-id", mended, "--", "sh", "-c", "echo 3 passed"]);
  const verification = { type: "command", command: "sh -c 'echo 3 passed'", result: "pass" };
  await close(mended, "COMPLETE", "done", { evidence_report: { verification, verbatim_outputs: ["no command"] } });

  const blocked = await bornAs(world, "mover", "Move the table");
  await world.writ(["run", "--contract-id", blocked, "--", "sh", "-c", "exit 3"]);
  await close(blocked, "BLOCKED", "wait");

  const hostile = await bornAs(world, HOSTILE, HOSTILE);
  await world.writ(["run", "--contract-id", hostile, "--", "sh", "-c", HOSTILE]);
  await world.writ(["run", "--contract-id", hostile, "--", "sh", "-c", "head -c 999996 /dev/zero | tr '\\0' '<'"]);
  await world.writ([
    "run",
    "--contract-id",
    hostile,
    "--",
    "printf",
    "nul:\\0 \\033[31mred\\033[0m \\342\\200\\256txt.exe\\n",
  ]);
  await world.writ(["contract", "set", "--draft-id", hostile, "conclusion", HOSTILE]);
  await world.writ(["contract", "add", "--draft-id", hostile, "evidence_report.key_outputs", "x".repeat(100_000)]);
  await world.writ(["approvals", "request", "--command", "npm publish", "--rationale", HOSTILE, "--risk", "high"]);
}

async function bornAs(world: LivingWorld, agent: string, goal: string): Promise<string> {
  const ran = await world.writ(["dispatch", "--agent", agent, "--goal", goal, "--json"]);
  return (JSON.parse(ran.stdout) as { contract_id: string }).contract_id;
}

/**
 * Every text whose contrast with what is behind it is under 4.5 to 1, as WCAG 2.2 1.4.3 counts it.
 * Colours are read from a canvas, which knows every notation.
 */
const CONTRAST = `(() => {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const read = (color) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = color;
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
    return { rgb: [red, green, blue], alpha };
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((one) => (one / 255 <= 0.04045 ? one / 255 / 12.92 : ((one / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let one = element; one !== null; one = one.parentElement) {
      const { rgb, alpha } = read(getComputedStyle(one).backgroundColor);
      if (alpha === 255) return rgb;
    }
    return [255, 255, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  let texts = 0;
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (walker.currentNode.data.trim() === "" || !element.checkVisibility()) continue;
    texts += 1;
    const [over, under] = [light(read(getComputedStyle(element).color).rgb), light(behind(element))];
    const ratio = (Math.max(over, under) + 0.05) / (Math.min(over, under) + 0.05);
    if (ratio < 4.5) found.push(ratio.toFixed(2) + " " + element.className + " " + walker.currentNode.data.slice(0, 40));
  }
  return texts < 20 ? ["only " + texts + " texts were looked at"] : found;
})()`;
