/**
 * All matches of a compiled pattern in a text, in time linear in pattern × text.
 *
 * Each single search of the engine is linear, but many in a row are not: `x*y|x` reads to the end of the text for every
 * x it finds. Here the text is read once from its end, which says for every place what can still lead to a match, and
 * once from its start, where nothing has to be tried that does not lead to one.
 *
 * Source: Frisch and Cardelli, "Greedy regular expression matching" (2004), on the program of Go's `regexp`
 */

/** What the engine compiles a pattern to; instruction 0 fails. */
export type Program = { readonly inst: readonly Instruction[]; readonly start: number };

export type Instruction = {
  readonly op: number;
  readonly out: number;
  /** The second branch of a fork; the conditions of an instruction that takes no character. */
  readonly arg: number;
  readonly runes: ArrayLike<number>;
  matchRune(rune: number): boolean;
};

/** Where a match begins and ends, in code units. */
export type Span = readonly [start: number, end: number];

const OP = {
  fork: 1,
  forkMatch: 2,
  capture: 3,
  empty: 4,
  fail: 5,
  match: 6,
  skip: 7,
  rune: 8,
  rune1: 9,
  any: 10,
  notLine: 11,
};

/** Words of 32 bits that a search may need for its table; 128 MiB. */
const MOST_WORDS = 2 ** 25;

/** Whether a text of this length can be searched here: the table of a large program takes too much room. */
export function canSearch(program: Program, length: number): boolean {
  return length * wordsOf(program) <= MOST_WORDS;
}

/**
 * The matches that do not overlap, leftmost first, from a place on; an empty match behind another one included.
 *
 * @param from the start of a character, or the end of the text
 */
export function* spansFrom(program: Program, text: string, from: number): Iterable<Span> {
  const search = new Search(program, text, from);
  for (let at = from; at <= text.length; ) {
    if (!search.canStart(at)) {
      at = nextCharacter(text, at);
      continue;
    }
    const end = search.endOf(at);
    yield [at, end];
    at = end > at ? end : nextCharacter(text, at);
  }
}

/** A set of instructions that take a character and lead to a match, with what is known of it. */
type Hope = {
  readonly bits: Uint32Array;
  /** By the character before and the conditions here: the set one character earlier. */
  readonly earlier: Map<number, number>;
  /** By the conditions: whether a match can begin here. */
  readonly canStart: Map<number, boolean>;
};

class Search {
  private readonly hopes: Hope[] = [];
  private readonly ids = new Map<string, number>();
  /** For each place the number of its set. */
  private readonly hopeAt: Int32Array;
  /** For each instruction those that come to it without a character. */
  private readonly comingTo: readonly (readonly number[])[];
  private readonly takers: readonly number[];
  private readonly hasConditions: boolean;
  /** When an instruction was last visited; and the number of the visit under way. */
  private readonly visited: Int32Array;
  private visit = 0;

  constructor(
    private readonly program: Program,
    private readonly text: string,
    from: number,
  ) {
    const { inst } = program;
    this.comingTo = comingTo(program);
    this.takers = [...inst.keys()].filter((pc) => takesCharacter(inst[pc]));
    this.hasConditions = inst.some(({ op }) => op === OP.empty);
    this.visited = new Int32Array(inst.length);
    this.hopeAt = new Int32Array(text.length + 1);
    let id = this.idOf(new Uint32Array(wordsOf(program)));
    this.hopeAt[text.length] = id;
    for (let at = text.length; at > from; ) {
      const start = before(text, at);
      id = this.earlier(id, text.codePointAt(start) ?? 0, this.conditionsAt(at));
      this.hopeAt[start] = id;
      at = start;
    }
  }

  canStart(at: number): boolean {
    const { canStart } = this.hope(at);
    const conditions = this.conditionsAt(at);
    let known = canStart.get(conditions);
    if (known === undefined) {
      known = this.choose(this.program.start, at) !== 0;
      canStart.set(conditions, known);
    }
    return known;
  }

  /** The end of the match that begins at a place where one can begin. */
  endOf(start: number): number {
    let at = start;
    for (let pc = this.choose(this.program.start, at); ; pc = this.choose(this.instruction(pc).out, at)) {
      if (this.instruction(pc).op === OP.match) return at;
      at = nextCharacter(this.text, at);
    }
  }

  /** The first in order of preference that leads to a match: a match itself or an instruction that takes a character. */
  private choose(from: number, at: number): number {
    const { bits } = this.hope(at);
    const conditions = this.conditionsAt(at);
    this.visit += 1;
    const open = [from];
    for (let pc = open.pop(); pc !== undefined; pc = open.pop()) {
      if (this.visited[pc] === this.visit) continue;
      this.visited[pc] = this.visit;
      const { op, out, arg } = this.instruction(pc);
      if (op === OP.match) return pc;
      if (op >= OP.rune) {
        if (hasBit(bits, pc)) return pc;
      } else if (op === OP.fork || op === OP.forkMatch) open.push(arg, out);
      else if (op === OP.skip || op === OP.capture || (op === OP.empty && (arg & ~conditions) === 0)) open.push(out);
    }
    return 0;
  }

  /** The set in front of a character, from the one behind it. */
  private earlier(id: number, rune: number, conditions: number): number {
    const hope = this.hopes[id] as Hope;
    const key = rune * 64 + conditions;
    const known = hope.earlier.get(key);
    if (known !== undefined) return known;
    const leads = this.leadingTo(hope.bits, conditions);
    const bits = new Uint32Array(hope.bits.length);
    for (const pc of this.takers) {
      const instruction = this.instruction(pc);
      if (leads[instruction.out] === 1 && takes(instruction, rune)) setBit(bits, pc);
    }
    const found = this.idOf(bits);
    hope.earlier.set(key, found);
    return found;
  }

  /** 1 for every instruction from which one of a set, or a match, is reached without a character. */
  private leadingTo(bits: Uint32Array, conditions: number): Uint8Array {
    const { inst } = this.program;
    const leads = new Uint8Array(inst.length);
    const open: number[] = [];
    for (let pc = 1; pc < inst.length; pc++) {
      if (!hasBit(bits, pc) && this.instruction(pc).op !== OP.match) continue;
      leads[pc] = 1;
      open.push(pc);
    }
    for (let pc = open.pop(); pc !== undefined; pc = open.pop()) {
      for (const other of this.comingTo[pc] ?? []) {
        const { op, arg } = this.instruction(other);
        if (leads[other] === 1 || (op === OP.empty && (arg & ~conditions) !== 0)) continue;
        leads[other] = 1;
        open.push(other);
      }
    }
    return leads;
  }

  private idOf(bits: Uint32Array): number {
    const key = bits.join();
    const known = this.ids.get(key);
    if (known !== undefined) return known;
    const id = this.hopes.length;
    this.hopes.push({ bits, earlier: new Map(), canStart: new Map() });
    this.ids.set(key, id);
    return id;
  }

  private hope(at: number): Hope {
    return this.hopes[this.hopeAt[at] ?? 0] as Hope;
  }

  private instruction(pc: number): Instruction {
    return this.program.inst[pc] as Instruction;
  }

  private conditionsAt(at: number): number {
    return this.hasConditions ? conditionsAt(this.text, at) : 0;
  }
}

function comingTo({ inst }: Program): readonly (readonly number[])[] {
  const from: number[][] = inst.map(() => []);
  for (const [pc, instruction] of inst.entries()) {
    const { op, out, arg } = instruction;
    if (op === OP.fail || op === OP.match || takesCharacter(instruction)) continue;
    from[out]?.push(pc);
    if (op === OP.fork || op === OP.forkMatch) from[arg]?.push(pc);
  }
  return from;
}

function takesCharacter(instruction: Instruction | undefined): boolean {
  return instruction !== undefined && instruction.op >= OP.rune && instruction.op <= OP.notLine;
}

function takes(instruction: Instruction, rune: number): boolean {
  switch (instruction.op) {
    case OP.rune:
      return instruction.matchRune(rune);
    case OP.rune1:
      return instruction.runes[0] === rune;
    case OP.any:
      return true;
    default:
      return rune !== 0x0a;
  }
}

/** The conditions that hold between two characters, as the engine numbers them. */
function conditionsAt(text: string, at: number): number {
  const left = at > 0 ? text.charCodeAt(at - 1) : -1;
  const right = at < text.length ? text.charCodeAt(at) : -1;
  return (
    (left < 0 || left === 0x0a ? 1 : 0) |
    (right < 0 || right === 0x0a ? 2 : 0) |
    (left < 0 ? 4 : 0) |
    (right < 0 ? 8 : 0) |
    (isWord(left) === isWord(right) ? 32 : 16)
  );
}

function isWord(unit: number): boolean {
  return (
    (unit >= 0x61 && unit <= 0x7a) || (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x30 && unit <= 0x39) || unit === 0x5f
  );
}

/** The start of the next character; behind the text at its end. */
export function nextCharacter(text: string, at: number): number {
  return at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}

/** The start of the character that ends here. */
function before(text: string, at: number): number {
  return at >= 2 && (text.codePointAt(at - 2) ?? 0) > 0xffff ? at - 2 : at - 1;
}

function wordsOf({ inst }: Program): number {
  return (inst.length + 31) >>> 5;
}

function hasBit(bits: Uint32Array, at: number): boolean {
  return (((bits[at >>> 5] ?? 0) >>> (at & 31)) & 1) === 1;
}

function setBit(bits: Uint32Array, at: number): void {
  bits[at >>> 5] = (bits[at >>> 5] ?? 0) | (1 << (at & 31));
}
