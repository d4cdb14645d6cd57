/**
 * The names that may stand in `\p{…}`: those of Go's `regexp` with Unicode 15.0. The engine at hand knows more, and the
 * same contract must mean the same to every reader of it.
 */

const CATEGORIES =
  "C Cc Cf Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S Sc Sk Sm So Z Zl Zp Zs";

const SCRIPTS = `
Adlam Ahom Anatolian_Hieroglyphs Arabic Armenian Avestan Balinese Bamum Bassa_Vah Batak Bengali Bhaiksuki Bopomofo
Brahmi Braille Buginese Buhid Canadian_Aboriginal Carian Caucasian_Albanian Chakma Cham Cherokee Chorasmian Common Coptic
Cuneiform Cypriot Cypro_Minoan Cyrillic Deseret Devanagari Dives_Akuru Dogra Duployan Egyptian_Hieroglyphs Elbasan Elymaic
Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gunjala_Gondi Gurmukhi Han Hangul Hanifi_Rohingya Hanunoo
Hatran Hebrew Hiragana Imperial_Aramaic Inherited Inscriptional_Pahlavi Inscriptional_Parthian Javanese Kaithi Kannada
Katakana Kawi Kayah_Li Kharoshthi Khitan_Small_Script Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Linear_A Linear_B Lisu
Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen Masaram_Gondi Medefaidrin Meetei_Mayek Mende_Kikakui
Meroitic_Cursive Meroitic_Hieroglyphs Miao Modi Mongolian Mro Multani Myanmar Nabataean Nag_Mundari Nandinagari
New_Tai_Lue Newa Nko Nushu Nyiakeng_Puachue_Hmong Ogham Ol_Chiki Old_Hungarian Old_Italic Old_North_Arabian Old_Permic
Old_Persian Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Oriya Osage Osmanya Pahawh_Hmong Palmyrene Pau_Cin_Hau
Phags_Pa Phoenician Psalter_Pahlavi Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham SignWriting Sinhala Sogdian
Sora_Sompeng Soyombo Sundanese Syloti_Nagri Syriac Tagalog Tagbanwa Tai_Le Tai_Tham Tai_Viet Takri Tamil Tangsa Tangut
Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi Wancho Warang_Citi Yezidi Yi Zanabazar_Square`;

/** General categories, scripts of Unicode 15.0, and `Any`. */
export const PROPERTY_NAMES: ReadonlySet<string> = new Set([
  "Any",
  ...CATEGORIES.split(" "),
  ...SCRIPTS.trim().split(/\s+/),
]);

/**
 * The first property of a pattern whose name is not on the list, as written: `\p{Emoji}`.
 *
 * @param source a pattern that the engine takes: so `\Q` opens a literal, never stands in a class
 * @returns      null where every property is on the list. Time is linear in the pattern
 * Source: Go 1.24, `regexp/syntax` with the tables of its `unicode` package
 */
export function foreignProperty(source: string): string | null {
  for (let at = source.indexOf("\\"); at >= 0; at = source.indexOf("\\", at)) {
    const letter = source.charAt(at + 1);
    if (letter === "Q") {
      const end = source.indexOf("\\E", at + 2);
      if (end < 0) return null;
      at = end + 2;
    } else if (letter === "p" || letter === "P") {
      const end = propertyEnd(source, at + 2);
      const name = source
        .slice(at + 2, end)
        .replace(/^\{(.*)\}$/s, "$1")
        .replace(/^\^/, "");
      if (!PROPERTY_NAMES.has(name)) return source.slice(at, end);
      at = end;
    } else at += 2;
  }
  return null;
}

/** Where a name in braces, or of one character, ends. */
function propertyEnd(source: string, from: number): number {
  if (source.charAt(from) !== "{") return from + ((source.codePointAt(from) ?? 0) > 0xffff ? 2 : 1);
  const close = source.indexOf("}", from);
  return close < 0 ? source.length : close + 1;
}
