import { type Flag, readFlags } from '../command/flags.ts';
import type { Word } from '../command/shell.ts';
import type { Container } from '../model/workload.ts';
import { type Cursor, isTemplated } from '../yaml/cursor.ts';
import { flagOf } from './launcher-variables.ts';
import { ordersOf } from './server-flag-relations.ts';
import { launcherRelease } from './server-release.ts';
import { soleServer } from './sole-server.ts';

/** A limit of Text Generation Inference that contradicts one which is set elsewhere, or a default. */
export interface WrongLimit {
  readonly problem: string;
  /** The value of the variable that sets it. */
  readonly at?: Cursor | undefined;
  /** The flag that sets it. */
  readonly words?: readonly [Word, Word] | undefined;
}

interface Limit {
  readonly name: string;
  readonly value: number;
  readonly from: 'flag' | 'variable' | 'default';
  readonly words?: readonly [Word, Word];
  readonly at?: Cursor;
}

/** Later releases derive them of each other. https://github.com/huggingface/text-generation-inference/blob/v1.4.0/launcher/src/main.rs */
const firstDefaults: ReadonlyMap<string, number> = new Map([
  ['max-input-length', 1024],
  ['max-total-tokens', 2048],
  ['max-batch-prefill-tokens', 4096],
]);

/** The limits with which the launcher exits, of which one is a flag and the other a variable, or one the default of its release. */
export function wrongLimits(container: Container): readonly WrongLimit[] {
  const server = soleServer(container);
  if (server?.program !== 'text-generation-launcher') return [];
  const limits = limitsOf(container, readFlags(server.command?.words ?? []));
  return ordersOf(server.program, container).flatMap(([lower, upper, relation]) => {
    const [low, high] = [limits.get(lower), limits.get(upper)];
    // Limits of one kind are compared with all others of their kind.
    if (low === undefined || high === undefined || low.from === high.from) return [];
    if (low.value < high.value || (low.value === high.value && relation === '<=')) return [];
    const written = low.from === 'default' ? high : low;
    const [is, other] = written === low ? ['above', high] : ['below', low];
    const must = relation === '<=' ? `must not be ${is}` : `must be ${is === 'above' ? 'below' : 'above'}`;
    const given = other.from === 'default' ? `, the default of ${other.name}` : ` of ${other.name}`;
    const problem = `${written.name} ${written.value} ${must} ${other.value}${given}`;
    return [{ problem, at: written.at, words: written.words }];
  });
}

function limitsOf(container: Container, flags: readonly Flag[]): ReadonlyMap<string, Limit> {
  const release = launcherRelease(container);
  const limits = new Map<string, Limit>();
  if (release?.[0] === 1 && release[1] <= 4)
    for (const [name, value] of firstDefaults) limits.set(name, { name: `--${name}`, value, from: 'default' });
  for (const { name, value } of container.env) {
    if (value === undefined || isTemplated(value.at)) limits.delete(flagOf(name));
    else if (/^\d{1,9}$/.test(value.value))
      limits.set(flagOf(name), { name, value: Number(value.value), from: 'variable', at: value.at });
  }
  for (const flag of flags) {
    const { name, value = '', dynamic, isVariable, word, valueWord } = flag;
    if (isVariable) continue;
    if (dynamic || !/^\d{1,9}$/.test(value)) limits.delete(name);
    else limits.set(name, { name: `--${name}`, value: Number(value), from: 'flag', words: [word, valueWord ?? word] });
  }
  return limits;
}
