/** Texts in a form in which their look-alikes are the same. */

const NOT_ASCII = /[^\0-\x7f]/;

/**
 * NFKC of each character by itself. It is ASCII exactly when NFKC of the whole text is, and then it is the same text;
 * unlike the whole, it takes linear time however many combining marks stand in a row.
 *
 * Source: UAX 15
 */
export function plainForm(text: string): string {
  if (!NOT_ASCII.test(text)) return text;
  let plain = "";
  for (const character of text) plain += character.normalize("NFKC");
  return plain;
}

export function isAscii(text: string): boolean {
  return !NOT_ASCII.test(text);
}
