/** The least that can be compared with `writ run -- true`: starts `true` and ends with its status. */
const child = Bun.spawn(["true"], { stdio: ["inherit", "inherit", "inherit"] });
process.exitCode = await child.exited;

export {};
