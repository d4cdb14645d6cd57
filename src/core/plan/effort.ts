/**
 * How much a plan check may compare. What a plan asks for grows with the product of its coverage rows and of the spec
 * lines that they cite; a hostile pair could keep a check busy for hours.
 */

/** In units of about 64 characters that are compared: about a second. */
const MOST = 5_000_000;
const CHARACTERS = 64;

export class Effort {
  private left = MOST;

  /** Errors: throws when the plan has asked for more than is done for any. */
  spend(characters: number): void {
    this.left -= 1 + characters / CHARACTERS;
    if (this.left < 0) throw new Error("the plan asks for more comparisons with the spec than a check makes");
  }
}
