// Keeps a page fresh, and filters what it shows while one types. Without it every page is whole all the same.
const EVERY_MS = 4000;
const button = document.getElementById("live");
const said = document.getElementById("said");
const known = new Map();
let isLive = sessionStorage.getItem("live") !== "off";
let timer = 0;

for (const part of parts(document)) known.set(part.dataset.part, part.innerHTML);
button.hidden = false;
button.addEventListener("click", () => {
  isLive = !isLive;
  sessionStorage.setItem("live", isLive ? "on" : "off");
  show();
  if (isLive) refresh();
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && isLive) refresh();
});
document.addEventListener("input", (event) => event.target.id === "q" && filter());
show();
plan();

function parts(root) {
  return root.querySelectorAll("[data-part]");
}

function show() {
  button.setAttribute("aria-pressed", String(isLive));
  say(isLive ? "" : "Paused");
}

function say(text) {
  if (said.textContent !== text) said.textContent = text;
}

function plan() {
  clearTimeout(timer);
  timer = setTimeout(() => (isLive && !document.hidden ? refresh() : plan()), EVERY_MS);
}

async function refresh() {
  clearTimeout(timer);
  try {
    const answer = await fetch(location.href, { cache: "no-store" });
    if (answer.headers.get("content-type")?.startsWith("text/html")) {
      update(new DOMParser().parseFromString(await answer.text(), "text/html"));
    }
    say(isLive ? "" : "Paused");
  } catch {
    say("Not connected: is the board still running?");
  }
  plan();
}

/** Takes over what has changed; what is open, focused and scrolled stays so. */
function update(fresh) {
  const names = (root) => [...parts(root)].map((part) => part.dataset.part).join();
  if (names(fresh) !== names(document)) {
    // Another set of parts: a store has come, or a state has its first turn.
    const place = scrollY;
    document.querySelector("main").replaceChildren(...fresh.querySelector("main").childNodes);
    known.clear();
    for (const part of parts(document)) known.set(part.dataset.part, part.innerHTML);
    scrollTo(0, place);
  } else {
    for (const part of parts(fresh)) {
      const name = part.dataset.part;
      if (known.get(name) === part.innerHTML) continue;
      known.set(name, part.innerHTML);
      replace(document.querySelector(`[data-part="${CSS.escape(name)}"]`), part);
    }
  }
  for (const place of [".top nav", "footer"]) {
    const old = document.querySelector(place);
    const now = fresh.querySelector(place);
    if (old.innerHTML !== now.innerHTML && !old.contains(document.activeElement)) old.replaceWith(now);
  }
  filter();
}

function replace(old, part) {
  const toggled = new Map([...old.querySelectorAll("details[data-key]")].map((one) => [one.dataset.key, one.open]));
  const focused = old.contains(document.activeElement) ? document.activeElement : null;
  const href = focused?.getAttribute("href");
  const key = focused?.closest("details")?.dataset.key;
  const place = scrollY;
  old.className = part.className;
  old.replaceChildren(...part.childNodes);
  for (const one of old.querySelectorAll("details[data-key]")) {
    if (toggled.has(one.dataset.key)) one.open = toggled.get(one.dataset.key);
  }
  const again = href
    ? [...old.querySelectorAll("a")].find((one) => one.getAttribute("href") === href)
    : key && old.querySelector(`details[data-key="${CSS.escape(key)}"] summary`);
  again?.focus({ preventScroll: true });
  scrollTo(0, place);
}

/** Hides the cards without the text; pressing Enter asks the store for it. */
function filter() {
  const search = document.getElementById("q");
  const text = search?.value.trim().toLowerCase() ?? "";
  for (const card of document.querySelectorAll(".lanes .card, .cards.wide .card")) {
    card.hidden = text !== "" && search.value !== search.defaultValue && !card.textContent.toLowerCase().includes(text);
  }
}
