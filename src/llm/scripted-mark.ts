import { isScriptedModel } from "../core/seat/scripted-model.ts";

/**
 * Whether a seat is a scripted one. It says so in three ways, of which one is enough: the header of each of its answers, the
 * fingerprint in a chat object, and the name of its model.
 *
 * Any answer tells, whatever was asked and whether it was granted: a leg that such a seat refuses, or that ends before its
 * answer is whole, ran on it all the same.
 *
 * Source: delegation run, section 17
 */
export class ScriptedMark {
  #isSeen: boolean;

  /** @param model as the config calls it */
  constructor(model: string) {
    this.#isSeen = isScriptedModel(model);
  }

  get isSeen(): boolean {
    return this.#isSeen;
  }

  /** The head of an answer. */
  hear(headers: Headers): void {
    this.#isSeen ||= headers.has("writ-scripted");
  }

  /** What an answer says of whoever gave it; null: nothing. */
  read(answer: { readonly model: string | null; readonly system_fingerprint: string | null }): void {
    this.#isSeen ||= answer.system_fingerprint === "writ-scripted" || isScriptedModel(answer.model ?? "");
  }
}
