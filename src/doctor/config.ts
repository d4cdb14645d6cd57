/** The check of the config: whether it is valid, whose it is, and which variables that it names are missing. */
import { idleVariables } from "../core/config/environment.ts";
import { counted } from "../core/counted.ts";
import { type Check, type Finding, findingsOf } from "./check.ts";
import type { ConfigLook, World } from "./world.ts";

const { pass, warn, fail } = findingsOf("config");

/** Whoever may write the config may send documents anywhere. */
const WRITABLE_BY_OTHERS = 0o022;

export const config: Check = {
  name: "config",
  async look(world) {
    const look = await world.config();
    const subject = look.file ?? "built-in";
    if (look.kind === "invalid") {
      return look.issues.map(({ path, message, hint, line }) =>
        fail(
          line === null ? path || subject : `${subject}, line ${line}`,
          path === "" ? message : `${path}: ${message}`,
          hint,
        ),
      );
    }
    const { seats, remotes } = look.config;
    const counts = `${counted(seats.length, "seat")}, ${counted(remotes.length, "remote")}`;
    return [
      ...openToOthers(world, look.file),
      ...unset(world, look),
      ...idle(world),
      pass(subject, `It is valid: ${counts}`),
    ];
  },
};

function openToOthers(world: World, file: string | null): readonly Finding[] {
  const look = file === null ? null : world.look(file);
  if (file === null || look === null) return [];
  if (!look.isMine) return [fail(file, "It belongs to another user", "Name one of your own with WRIT_CONFIG")];
  if (look.mode === null || (look.mode & WRITABLE_BY_OTHERS) === 0) return [];
  return [fail(file, `Others may change it (mode ${look.mode.toString(8)})`, `Type: chmod go-w '${file}'`)];
}

/** Variables that somebody names on purpose and that have no value. */
function unset(
  world: World,
  { config: { seats, remotes }, sources }: Extract<ConfigLook, { kind: "loaded" }>,
): readonly Finding[] {
  const named = [
    ...seats.map(({ api_key_env }, index) => ({ name: api_key_env, path: `seats[${index}].api_key_env` })),
    ...remotes.map(({ token_env }, index) => ({ name: token_env, path: `remotes[${index}].token_env` })),
  ];
  return named.flatMap(({ name, path }) =>
    name === "" || world.isSet(name) || sources.get(path)?.kind === "default"
      ? []
      : [warn(path, `It names ${name}, which is not set: nothing is sent`, `Type: export ${name}=…`)],
  );
}

function idle(world: World): readonly Finding[] {
  return idleVariables((name) => world.isSet(name)).map((name) =>
    warn(name, "It is set and stands for nothing: WRIT_SEAT_URL is not", "Type: export WRIT_SEAT_URL=…"),
  );
}
