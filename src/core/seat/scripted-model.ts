/**
 * Whether the name of a model is that of a scripted seat. One of another kind may have a name that only begins like it.
 *
 * Source: delegation run, section 17
 */
export function isScriptedModel(model: string): boolean {
  return /^scripted(?:\/|$)/.test(model);
}
