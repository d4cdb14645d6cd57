/**
 * Reads standard input and prints what came as JSON: `bun stdin-reader.ts hook MAX_BYTES MAX_MILLIS` a payload,
 * `bun stdin-reader.ts body MAX_BYTES` a body, as its length and digest, or the error it is refused with.
 */
import { WritError } from "../../src/core/error.ts";
import { readHookPayload, readStdinText } from "../../src/host/stdin.ts";

const [what, maxBytes, maxMillis] = process.argv.slice(2);
if (what === "hook") {
  const read = await readHookPayload({ maxBytes: Number(maxBytes), maxMillis: Number(maxMillis) });
  console.log(JSON.stringify(read));
} else {
  try {
    const text = await readStdinText(Number(maxBytes));
    const sha256 = new Bun.CryptoHasher("sha256").update(text).digest("hex");
    console.log(JSON.stringify({ length: text.length, sha256 }));
  } catch (error) {
    if (!(error instanceof WritError)) throw error;
    console.log(JSON.stringify({ code: error.code, message: error.message }));
  }
}
