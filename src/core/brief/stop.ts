/** Why a brief is not written, checked or resumed: a stop, with what it is about in lines of its own. */
import { type ErrorCode, WritError } from "../error.ts";

type About = {
  readonly path?: string | null;
  readonly hint?: string | null;
  readonly details?: readonly string[];
  /** What the document calls it, where that is no code of the table. */
  readonly name?: string;
  readonly cause?: unknown;
};

/** The error of a stop: "Stop: <message>", each detail on a line behind it. Source: flow state, section 1.2. */
export function stop(code: ErrorCode, message: string, about: About = {}): WritError {
  const { path = null, hint = null, details = [], name, cause } = about;
  return new WritError(code, message, {
    path,
    hint,
    lines: details,
    details: { details, ...(name === undefined ? {} : { code: name }) },
    layout: "stop",
    cause,
  });
}

/** The error of a text that is printed as it is, a line of its own for the hint; details stand in the document alone. */
export function plainRefusal(code: ErrorCode, message: string, about: About = {}): WritError {
  const { path = null, hint = null, details = [] } = about;
  return new WritError(code, message, { path, hint, details: { details }, layout: "plain" });
}
