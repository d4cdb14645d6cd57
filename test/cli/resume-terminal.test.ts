import { expect, setDefaultTimeout, test } from "bun:test";
import { PLAN_PATH, SPEC, SPEC_PATH } from "../support/greeting.ts";
import { openResuming } from "../support/resuming.ts";
import { openScreen } from "../support/screen.ts";
import { writCommand } from "../support/writ.ts";

/** Each is a dozen processes, and the machine may be busy. */
setDefaultTimeout(30_000);

test("at a terminal a person is asked, and asked again for an answer that is none", async () => {
  using world = openResuming({ [SPEC_PATH]: SPEC });
  const screen = openScreen([...writCommand(), "resume", world.tree.path], { env: world.env(), cwd: world.tree.path });
  await screen.shows("Is this spec approved? (yes or no) ");
  screen.type("perhaps\n");
  await screen.shows("perhaps\r\nIs this spec approved? (yes or no) ");
  screen.type("yes\n");
  expect(await screen.ended).toBe(0);
  expect(screen.text()).toContain("Next: write the plan for");
});

test("at a terminal a proposal is changed until it can stand", async () => {
  using world = openResuming();
  const screen = openScreen([...writCommand(), "resume", world.tree.path, "--plan-only"], {
    env: world.env(),
    cwd: world.tree.path,
    columns: 300,
  });
  const prompt = "Confirm? (yes, or changes such as 2=complete stage=verify) ";
  await screen.shows(prompt);
  screen.type("2=complete\n");
  await screen.shows('0 "W1: Bounded greeting cache"');
  screen.type("1=complete stage=verify\n");
  await screen.shows("Stage: verify");
  screen.type("3=complete 4=skipped\n");
  await screen.shows("Task 4: Changelog entry - no commit - skipped");
  screen.type("yes\n");
  expect(await screen.ended).toBe(0);
  expect(screen.text()).toContain(`4. plan check '${world.tree.path}/${PLAN_PATH}'`);
  expect(screen.text()).toContain("7. phase start verify");
});

test("at a terminal the newest brief is the first to pick; the end of input is no answer", async () => {
  using world = openResuming();
  world.flow();
  await world.handoff("a", "--title", "first");
  const run = () =>
    openScreen([...writCommand(), "resume", "--plan-only"], { env: world.env(), cwd: world.tree.path, columns: 300 });
  const picked = run();
  await picked.shows("Which brief? (1-1) ");
  picked.type("1\n");
  expect(await picked.ended).toBe(0);
  expect(picked.text()).toContain("8. plan init");
  const left = run();
  await left.shows("Which brief? (1-1) ");
  left.type("\u0004");
  expect(await left.ended).toBe(3);
  expect(left.text()).toContain("Answer needed: brief (--pick <n>)");
});
