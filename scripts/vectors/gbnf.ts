/**
 * A small acceptor of grammars in GBNF: what llama.cpp would let a model write. It knows what writ's grammars are made of
 * and refuses anything else: rules, literals, classes, groups, `|`, `*`, `+`, `?`, `{m,n}`.
 *
 * Source: https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md
 */

type Expression =
  | { readonly kind: "literal"; readonly points: readonly number[] }
  | { readonly kind: "class"; readonly isNegated: boolean; readonly ranges: readonly (readonly [number, number])[] }
  | { readonly kind: "rule"; readonly name: string }
  | { readonly kind: "sequence" | "choice"; readonly parts: readonly Expression[] }
  | { readonly kind: "repeat"; readonly part: Expression; readonly least: number; readonly most: number };

export type Grammar = ReadonlyMap<string, Expression>;

/** The rules of a grammar. Errors: throws where the text is no grammar, names a rule twice or one that is missing. */
export function parseGrammar(text: string): Grammar {
  const rules = new Map<string, Expression>();
  for (const line of text.split("\n").filter((each) => each !== "")) {
    const found = /^([a-zA-Z0-9-]+) ::= (.*)$/.exec(line);
    if (found === null) throw new Error(`No rule: ${line}`);
    const [, name = "", body = ""] = found;
    if (rules.has(name)) throw new Error(`Rule "${name}" is given twice`);
    rules.set(name, new Reader(body).whole());
  }
  for (const name of [...rules.values()].flatMap(namesIn)) {
    if (!rules.has(name)) throw new Error(`There is no rule "${name}"`);
  }
  return rules;
}

/** Names of rules that no way leads to from `root`. */
export function unreachableRules(grammar: Grammar): readonly string[] {
  const reached = new Set(["root"]);
  for (const name of reached) for (const next of namesIn(grammar.get(name) ?? EMPTY)) reached.add(next);
  return [...grammar.keys()].filter((name) => !reached.has(name));
}

/** True when the grammar takes the whole text. */
export function acceptsText(grammar: Grammar, text: string): boolean {
  const points = Array.from(text, (each) => each.codePointAt(0) ?? 0);
  return match(grammar, grammar.get("root") ?? EMPTY, points, new Set([0])).has(points.length);
}

const EMPTY: Expression = { kind: "sequence", parts: [] };

function namesIn(expression: Expression): readonly string[] {
  switch (expression.kind) {
    case "rule":
      return [expression.name];
    case "sequence":
    case "choice":
      return expression.parts.flatMap(namesIn);
    case "repeat":
      return namesIn(expression.part);
    default:
      return [];
  }
}

/** The places that an expression can end at when it begins at one of some places. */
function match(
  grammar: Grammar,
  expression: Expression,
  points: readonly number[],
  from: ReadonlySet<number>,
): ReadonlySet<number> {
  if (from.size === 0) return from;
  switch (expression.kind) {
    case "literal": {
      const hits = [...from].filter((at) => expression.points.every((point, index) => points[at + index] === point));
      return new Set(hits.map((at) => at + expression.points.length));
    }
    case "class":
      return new Set([...from].filter((at) => isIn(expression, points[at])).map((at) => at + 1));
    case "rule":
      return match(grammar, grammar.get(expression.name) ?? EMPTY, points, from);
    case "sequence":
      return expression.parts.reduce((at, part) => match(grammar, part, points, at), from);
    case "choice":
      return new Set(expression.parts.flatMap((part) => [...match(grammar, part, points, from)]));
    case "repeat": {
      const ends = new Set(expression.least === 0 ? from : []);
      let at = from;
      for (let count = 1; count <= expression.most && at.size > 0; count += 1) {
        at = match(grammar, expression.part, points, at);
        // Without a bound, a place that is known leads nowhere new.
        if (expression.most === Number.POSITIVE_INFINITY) at = new Set([...at].filter((each) => !ends.has(each)));
        if (count >= expression.least) for (const each of at) ends.add(each);
      }
      return ends;
    }
  }
}

function isIn({ isNegated, ranges }: Extract<Expression, { kind: "class" }>, point: number | undefined): boolean {
  if (point === undefined) return false;
  return ranges.some(([low, high]) => point >= low && point <= high) !== isNegated;
}

class Reader {
  private at = 0;

  constructor(private readonly text: string) {}

  whole(): Expression {
    const expression = this.choice();
    if (this.at < this.text.length) throw new Error(`Not read: ${this.text.slice(this.at)}`);
    return expression;
  }

  private choice(): Expression {
    const parts = [this.sequence()];
    while (this.take("|")) parts.push(this.sequence());
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: "choice", parts };
  }

  private sequence(): Expression {
    const parts: Expression[] = [];
    for (;;) {
      while (this.take(" "));
      const next = this.text[this.at];
      if (next === undefined || next === "|" || next === ")") return { kind: "sequence", parts };
      parts.push(this.repeated(this.single(next)));
    }
  }

  private single(next: string): Expression {
    if (this.take("(")) {
      const inner = this.choice();
      this.expect(")");
      return inner;
    }
    if (this.take('"')) {
      const points: number[] = [];
      while (!this.take('"')) points.push(this.point());
      return { kind: "literal", points };
    }
    if (this.take("[")) {
      const isNegated = this.take("^");
      const ranges: [number, number][] = [];
      while (!this.take("]")) {
        const low = this.point();
        const isRange = this.text[this.at] === "-" && this.text[this.at + 1] !== "]";
        if (isRange) this.expect("-");
        ranges.push([low, isRange ? this.point() : low]);
      }
      return { kind: "class", isNegated, ranges };
    }
    const name = /^[a-zA-Z0-9-]+/.exec(this.text.slice(this.at))?.[0];
    if (name === undefined) throw new Error(`Unknown sign "${next}"`);
    this.at += name.length;
    return { kind: "rule", name };
  }

  private repeated(part: Expression): Expression {
    const most = Number.POSITIVE_INFINITY;
    if (this.take("*")) return { kind: "repeat", part, least: 0, most };
    if (this.take("+")) return { kind: "repeat", part, least: 1, most };
    if (this.take("?")) return { kind: "repeat", part, least: 0, most: 1 };
    const bounds = /^\{([0-9]+),([0-9]+)\}/.exec(this.text.slice(this.at));
    if (bounds === null) return part;
    this.at += bounds[0].length;
    return { kind: "repeat", part, least: Number(bounds[1]), most: Number(bounds[2]) };
  }

  /** One code point of a literal or a class, which may be written as an escape. */
  private point(): number {
    const point = this.text.codePointAt(this.at);
    if (point === undefined) throw new Error("A literal or a class is not closed");
    this.at += point > 0xffff ? 2 : 1;
    if (point !== 0x5c) return point;
    const letter = this.text[this.at] ?? "";
    this.at += 1;
    if (letter === "x") {
      this.at += 2;
      return Number.parseInt(this.text.slice(this.at - 2, this.at), 16);
    }
    const escaped = { n: 0x0a, r: 0x0d, t: 0x09, "\\": 0x5c, '"': 0x22, "[": 0x5b, "]": 0x5d }[letter];
    if (escaped === undefined) throw new Error(`Unknown escape "\\${letter}"`);
    return escaped;
  }

  private take(sign: string): boolean {
    const isThere = this.text[this.at] === sign;
    if (isThere) this.at += 1;
    return isThere;
  }

  private expect(sign: string): void {
    if (!this.take(sign)) throw new Error(`Expected "${sign}" at ${this.at} of ${this.text}`);
  }
}
