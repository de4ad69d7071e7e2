import type { Word } from './shell-lexer.ts';

/** A variable of the container, as Kubernetes and shells expand it; undefined if its value is unknown. */
export interface Variable {
  readonly name: string;
  readonly value: string | undefined;
}

/** A value with the words that it has without quotes. */
interface Value {
  readonly text: string;
  readonly words: readonly Word[];
}

/** The variables at one point of a script. A name without a known value is null. */
export class Scope {
  readonly #ofContainer: ReadonlyMap<string, string | undefined>;
  readonly #values: Map<string, Value | null>;
  /** The characters that expansions may still add: a script can double a value in each line. */
  readonly #budget: { left: number };

  private constructor(
    ofContainer: ReadonlyMap<string, string | undefined>,
    values: Map<string, Value | null>,
    budget: { left: number },
  ) {
    this.#ofContainer = ofContainer;
    this.#values = values;
    this.#budget = budget;
  }

  static of(env: readonly Variable[]): Scope {
    const known = new Map<string, string | undefined>();
    for (const { name, value } of env) known.set(name, value === undefined ? undefined : references(value, known));
    return new Scope(known, new Map(), { left: maxAdded });
  }

  /** A scope whose assignments do not leave it. */
  inner(): Scope {
    return new Scope(this.#ofContainer, new Map(this.#values), this.#budget);
  }

  /** Follows `NAME=value`. */
  assign(word: Word, place: Place): void {
    const end = word.text.indexOf('=');
    const [, name, adds] = /^([A-Za-z_]\w*)(\+?)$/.exec(word.text.slice(0, Math.max(end, 0))) ?? [];
    if (name === undefined) return;
    const before = adds === '' ? noValue : this.#find(name);
    const value = this.#single(place.tail(word, end + 1), place);
    const words = [...(before?.words ?? []), ...(value === undefined ? [] : place.split(value))];
    if (value === undefined || !before || words.length > maxWords) this.#values.set(name, null);
    else this.#values.set(name, { text: before.text + value.text, words });
  }

  assignArray(name: string, words: readonly Word[], place: Place): void {
    const all = words.flatMap((word) => this.expand(word, place));
    this.#values.set(name, all.length > maxWords ? null : { text: all[0]?.text ?? '', words: all });
  }

  forget(name: string): void {
    this.#values.set(name, null);
  }

  /** The words that the program receives in place of a word. A word with unknown variables stays as it is. */
  expand(word: Word, place: Place): readonly Word[] {
    if (!word.text.includes('$')) return [word];
    const whole = /^\$(?:(\w+)|\{(\w+)(?:\[[@*]\]|:?-[^${}`\\"']*)?\})$/.exec(word.text);
    const name = whole?.[1] ?? whole?.[2];
    if (name !== undefined && word.dynamic && place.isScript) {
      const value = this.#find(name);
      // An empty value has the default, which may be a whole list of words.
      if (!value || (value.text === '' && word.text.includes('-'))) return [word];
      const { text, words } = value;
      const own = words.length > 0 ? words : place.split({ ...word, text, dynamic: false, derived: true });
      if (word.text.includes('[') || !place.isQuoted(word)) return this.#spend(text.length, own) ?? [word];
    }
    return [this.#single(word, place) ?? word];
  }

  /** The word with all its variables replaced; undefined if any of them is unknown. */
  #single(word: Word, place: Place): Word | undefined {
    if (!word.text.includes('$')) return word.dynamic ? undefined : word;
    const inShell = place.isScript && word.dynamic;
    let known = true;
    const text = word.text.replace(
      /\$(?:\(([\w.-]+)\)|\{(\w+)(?::?-[^${}`\\"']*)?\}|(\w+)|.?)/gs,
      (match, ofPod, braced, plain) => {
        const shell = inShell ? this.#find(braced ?? plain ?? '')?.text : match;
        const value = ofPod === undefined ? shell : this.#ofContainer.get(ofPod);
        if (value === undefined || (value === '' && match.includes('-'))) known = false;
        return value ?? '';
      },
    );
    if (!known) return undefined;
    if (text === word.text) return word.dynamic ? undefined : word;
    return this.#spend(text.length, [{ ...word, text, dynamic: false, derived: true }])?.[0];
  }

  #find(name: string): Value | null | undefined {
    const value = this.#values.get(name);
    if (value !== undefined) return value;
    const own = this.#ofContainer.get(name);
    return own === undefined ? undefined : { text: own, words: [] };
  }

  #spend(length: number, words: readonly Word[]): readonly Word[] | undefined {
    const cost = length + words.length;
    if (cost > this.#budget.left) return undefined;
    this.#budget.left -= cost;
    return words;
  }
}

/** Command lines are far shorter. */
const maxAdded = 100_000;
const maxWords = 1000;
const noValue: Value = { text: '', words: [] };

/** `$(NAME)` in the value of a variable is the value of an earlier one. */
function references(value: string, known: ReadonlyMap<string, string | undefined>): string | undefined {
  if (!value.includes('$(')) return value;
  let isKnown = true;
  const text = value.replace(/\$\(([\w.-]+)\)/g, (_, name) => {
    const found = known.get(name);
    if (found === undefined) isKnown = false;
    return found ?? '';
  });
  return isKnown ? text : undefined;
}

/** Where the words of a script are written. */
export class Place {
  readonly #items: readonly string[];
  readonly isScript: boolean;

  constructor(items: readonly string[], isScript: boolean) {
    this.#items = items;
    this.isScript = isScript;
  }

  /** Whether the text of a word is in the source as it is, and where. */
  offsetOf(word: Word): number | undefined {
    if (word.derived === true) return undefined;
    const written = this.#items[word.item]?.slice(word.start, word.end) ?? '';
    const at = written.indexOf(word.text);
    return at < 0 ? undefined : word.start + at;
  }

  isQuoted(word: Word): boolean {
    return /["']/.test(this.#items[word.item]?.[word.start] ?? '');
  }

  /** The word without its first characters. */
  tail(word: Word, length: number): Word {
    const text = word.text.slice(length);
    const start = word.start + length;
    return word.derived === true ? { ...word, text } : { ...word, text, start };
  }

  /** The words of a value that is used without quotes. */
  split(word: Word): readonly Word[] {
    const offset = this.offsetOf(word);
    return [...word.text.matchAll(/\S+/g)].map(({ 0: text, index }) =>
      offset === undefined
        ? { ...word, text, derived: true }
        : { ...word, text, start: offset + index, end: offset + index + text.length },
    );
  }
}
