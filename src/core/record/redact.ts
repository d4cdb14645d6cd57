/**
 * Takes secrets out of what is stored: by value (rule 8) and by shape (rules 1 to 7).
 *
 * Every pattern runs in linear time on any text. The rules 4, 5 and 7 as written would not: they look from
 * every start in a long name for what may never follow it. The patterns here ask once a name, and mark the
 * same characters.
 *
 * Source: the contract editor's specification, section 16.3
 */
import { stripSequences } from "../terminal.ts";
import { findNeedles } from "./needles.ts";

/** What stands where a secret stood. It shows neither its kind nor its length. */
export const REDACTED = "[REDACTED]";

/** Marks every secret value that it was made for; from `valueRedactor`. */
export type ValueRedactor = (text: string) => string;

// A word's start. Behind a colour sequence its last letter would hide it, so that counts as well; a
// sequence that ends in BEL needs no mention, since BEL is no letter.
const EDGE = String.raw`(?:\b|(?<=(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[ -/]+[0-~]))`;

const KEY_BEGIN = /-----BEGIN [A-Z ]*PRIVATE KEY-----/gi;
const KEY_END = /-----END [A-Z ]*PRIVATE KEY-----/gi;

const PRIVATE_KEY = /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gi;

const AWS_KEY_ID = new RegExp(String.raw`${EDGE}(?:AKIA|ASIA)[0-9A-Z]{16}\b`, "g");

const VENDOR_TOKEN = new RegExp(
  `${EDGE}(?:${[
    /gh[pousr]_[A-Za-z0-9]{20,}\b/,
    /github_pat_[A-Za-z0-9_]{20,}\b/,
    /glpat-[A-Za-z0-9_-]{16,}/,
    /xox[abeoprs]-[A-Za-z0-9-]{10,}/,
    /sk-[A-Za-z0-9_-]{20,}/,
    /AIza[0-9A-Za-z_-]{35}/,
    /npm_[A-Za-z0-9]{30,}\b/,
    /[rs]k_(?:live|test)_[A-Za-z0-9]{16,}\b/,
    /pypi-[A-Za-z0-9_-]{16,}/,
    /hf_[A-Za-z0-9]{20,}\b/,
    /whsec_[A-Za-z0-9+/=]{16,}/,
    /sbp_[A-Za-z0-9]{20,}\b/,
    /[0-9]{8,10}:[A-Za-z0-9_-]{35}\b/,
  ]
    .map((pattern) => pattern.source)
    .join("|")})`,
  "g",
);

// Where the other segments do not follow, the rest of this one is passed over: they do not follow any later
// "eyJ" in it either.
const JWT = new RegExp(
  String.raw`${EDGE}eyJ(?:([A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*)|[A-Za-z0-9_-]*)`,
  "g",
);

// Looks for the scheme's name only where "://" stands.
const URL_PASSWORD = /(:\/\/(?<=[a-z][a-z0-9+.-]*:\/\/)[^\s:/@]+:)[^\s@/]+@/gi;

const CREDENTIALS = new RegExp(String.raw`${EDGE}(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}`, "gi");

const SECRET_WORD =
  "password|passwd|passphrase|secret|token|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key|credential";

// Where no value follows, the rest of the name is passed over: none follows any later word in it either.
const KEY_VALUE = new RegExp(
  String.raw`(?:${SECRET_WORD})[A-Za-z0-9_.-]*(?:["']?\s*[:=]\s*["']?([^\s"',;]{4,}))?`,
  "gi",
);

/**
 * Marks the secrets in a text. What comes back may be redacted again without harm.
 *
 * @param kind   `command` leaves `name=value` pairs alone, which would spoil ordinary options
 * @param values the secrets of this process's environment; null or missing: by shape only
 * Errors: none
 */
export function redact(text: string, kind: "output" | "command", values: ValueRedactor | null = null): string {
  const marked = mark(text, kind, values);
  if (!ESCAPES.test(text)) return marked;
  // A colour inside a secret hides it from every pattern: then the text goes without its colours.
  const plain = mark(stripSequences(text), kind, values);
  return stripSequences(marked) === plain ? marked : plain;
}

/** What an escape sequence begins with. */
const ESCAPES = /[\x1b\x80-\x9f]/;

function mark(text: string, kind: "output" | "command", values: ValueRedactor | null): string {
  const shaped = (values === null ? text : values(text))
    .replace(PRIVATE_KEY, REDACTED)
    .replace(AWS_KEY_ID, REDACTED)
    .replace(VENDOR_TOKEN, REDACTED)
    .replace(JWT, (match, segments?: string) => (segments === undefined ? match : REDACTED))
    .replace(URL_PASSWORD, `$1${REDACTED}@`)
    .replace(CREDENTIALS, `$1 ${REDACTED}`);
  if (kind === "command") return shaped;
  return shaped.replace(KEY_VALUE, (match, value?: string) =>
    value === undefined ? match : match.slice(0, -value.length) + REDACTED,
  );
}

/** Where the body of a private key begins that the text does not end; -1 when it leaves none open. */
export function openKeyBlock(text: string): number {
  for (let from = 0; ; ) {
    const body = endOfMatch(KEY_BEGIN, text, from);
    if (body < 0) return -1;
    from = endOfKeyBlock(text, body);
    if (from < 0) return body;
  }
}

/** Behind the end line of a private key, at or after `from`; -1 when there is none. */
export function endOfKeyBlock(text: string, from = 0): number {
  return endOfMatch(KEY_END, text, from);
}

function endOfMatch(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

const SECRET_NAME = /KEY|TOKEN|SECRET|PASS|CRED|AUTH(?!OR)/i;
const MIN_VALUE_LENGTH = 8;

/**
 * Rule 8 for one environment: every value of at least 8 code points whose variable sounds like a secret, as it
 * is, JSON-escaped, URL-encoded and in base64 (both alphabets, padded or not).
 *
 * Values that overlap in a text are marked as one, so that the longest is always gone whole.
 *
 * @returns null when the environment holds no such value
 * Errors: none
 */
export function valueRedactor(environment: Readonly<Record<string, string | undefined>>): ValueRedactor | null {
  const needles = new Set<string>();
  for (const [name, raw] of Object.entries(environment)) {
    if (raw === undefined || !SECRET_NAME.test(name)) continue;
    const value = raw.toWellFormed();
    if (Array.from(value).length < MIN_VALUE_LENGTH) continue;
    for (const form of formsOf(value)) needles.add(form);
  }
  if (needles.size === 0) return null;
  const find = findNeedles(needles);
  return (text) => {
    let marked = "";
    let from = 0;
    for (const [start, end] of find(text)) {
      marked += text.slice(from, start) + REDACTED;
      from = end;
    }
    return from === 0 ? text : marked + text.slice(from);
  };
}

function formsOf(value: string): readonly string[] {
  const base64 = new TextEncoder().encode(value).toBase64();
  const unpadded = base64.replace(/=+$/, "");
  return [
    value,
    JSON.stringify(value).slice(1, -1),
    encodeURIComponent(value),
    base64,
    unpadded,
    unpadded.replaceAll("+", "-").replaceAll("/", "_"),
  ];
}
