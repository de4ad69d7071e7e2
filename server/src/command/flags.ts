import { baseName, type Word } from './shell.ts';

/** A flag or an override on a command line, with its words. */
export interface Flag {
  /** In lower case, without leading dashes, with `-` for `_`: `save-steps` for `--save_steps`. Hydra keys keep their dots. */
  readonly name: string;
  /** The name as written, without leading dashes. */
  readonly written: string;
  /** Undefined for a switch. */
  readonly value: string | undefined;
  /** The value contains an expansion by the shell or Kubernetes, so it is unknown. */
  readonly dynamic: boolean;
  readonly word: Word;
  /** The word with the value: the same or the next one. Undefined for a switch. */
  readonly valueWord: Word | undefined;
  /** It is an environment variable that the command sets: `export NAME=value`. */
  readonly isVariable: boolean;
}

/** The flags of a command: `--flag value`, `--flag=value`, `-f value` and Hydra's `key.path=value`. */
export function readFlags(words: readonly Word[]): readonly Flag[] {
  const known = flagsOf.get(words);
  if (known !== undefined) return known;
  const flags: Flag[] = [];
  flagsOf.set(words, flags);
  const variables = variablesIn(words);
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (word === undefined) continue;
    const written = /^(?:-{1,2}|\+{1,2})?([A-Za-z_][\w./-]*)=/.exec(word.text);
    if (written !== null) {
      flags.push({
        ...named(written[1] ?? ''),
        value: word.text.slice(written[0].length),
        dynamic: word.dynamic,
        word,
        valueWord: word,
        isVariable: variables.has(word),
      });
    } else if (/^--?[A-Za-z]/.test(word.text)) {
      const next = words[at + 1];
      const takes = next !== undefined && (!next.text.startsWith('-') || /^-\d/.test(next.text));
      flags.push({
        ...named(word.text.replace(/^-+/, '')),
        value: takes ? next.text : undefined,
        dynamic: word.dynamic || (takes && next.dynamic),
        word,
        valueWord: takes ? next : undefined,
        isVariable: false,
      });
    }
  }
  return flags;
}

/** A cache: several rules read the flags of the same command. */
const flagsOf = new WeakMap<readonly Word[], readonly Flag[]>();

/** The words `NAME=value` of `export` and similar commands, and those of `env` before its program. */
function variablesIn(words: readonly Word[]): ReadonlySet<Word> {
  const [first, ...rest] = words[0]?.text === 'exec' ? words.slice(1) : words;
  const program = baseName(first?.text ?? '');
  if (!/^(?:export|declare|local|typeset|readonly|env)$/.test(program)) return new Set();
  const end = program === 'env' ? rest.findIndex(({ text }) => !/^-|^[A-Za-z_]\w*=/.test(text)) : -1;
  return new Set((end < 0 ? rest : rest.slice(0, end)).filter(({ text }) => /^[A-Za-z_]\w*=/.test(text)));
}

function named(written: string): Pick<Flag, 'name' | 'written'> {
  return { name: written.replaceAll('_', '-').toLowerCase(), written };
}
