/** What a model's text is without what belongs to no answer: a block of reasoning at its beginning, a code fence around it. */

export type SplitText = {
  readonly answer: string;
  /** There was a block of reasoning, closed or not. */
  readonly hasReasoning: boolean;
};

/**
 * Takes a leading `<think>` block off. One that is not closed reaches to the end: the model was cut while it thought.
 * One that the template had opened has its end in the text alone.
 *
 * Errors: none; time is linear in the text
 */
export function splitThinking(text: string): SplitText {
  const start = text.trimStart();
  const close = start.indexOf("</think>");
  const open = start.indexOf("<think>");
  if (open !== 0 && (close < 0 || (open >= 0 && open < close))) return { answer: text, hasReasoning: false };
  const answer = close < 0 ? "" : start.slice(close + "</think>".length).trimStart();
  return { answer, hasReasoning: true };
}

/**
 * What stands inside of the one code fence that a text consists of, trimmed; else the text itself, trimmed.
 *
 * Errors: none; time is linear in the text
 */
export function withoutFence(text: string): string {
  const body = text.trim();
  if (!body.startsWith("```") || !body.endsWith("```")) return body;
  const head = body.indexOf("\n");
  return head < 0 || head > body.length - 3 ? body : body.slice(head + 1, -3).trim();
}
