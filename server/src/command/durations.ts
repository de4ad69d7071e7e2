import { table } from '../yaml/table.ts';
import { programWords } from './programs.ts';
import { baseName, type Statement } from './shell.ts';

/** The seconds after which `timeout` ends a command. */
export function timeLimit(statement: Statement): number | undefined {
  if (statement.kind !== 'command') return undefined;
  const words = statement.words.map(({ text }) => text);
  const wrappers = words.slice(0, words.length - programWords(statement).length);
  const at = wrappers.findIndex((word) => baseName(word) === 'timeout');
  const limit = at < 0 ? undefined : sleepSeconds(wrappers.slice(-1));
  // Zero means no limit.
  return limit === 0 || limit === Number.POSITIVE_INFINITY ? undefined : limit;
}

const sleepUnits = table({ s: 1, m: 60, h: 3600, d: 86_400 });

/** The result of `$((60*60*24))`. */
function productOf(word: string): string | undefined {
  const inner = word.startsWith('$((') && word.endsWith('))') ? word.slice(3, -2) : undefined;
  const factors = inner?.split('*').map((factor) => factor.trim());
  if (factors === undefined || !factors.every((factor) => /^\d{1,9}$/.test(factor))) return undefined;
  return String(factors.reduce((product, factor) => product * Number(factor), 1));
}

/** Seconds for GNU sleep, which adds up its operands and accepts units; `infinity` may be shortened. */
export function sleepSeconds(operands: readonly string[]): number | undefined {
  let seconds = 0;
  for (const written of operands) {
    const operand = productOf(written) ?? written;
    const match = /^(\d+(?:\.\d*)?|\.\d+|inf|infinity)([smhd]?)$/i.exec(operand);
    if (match?.[1] === undefined) return undefined;
    const amount = /^inf/i.test(match[1]) ? Number.POSITIVE_INFINITY : Number(match[1]);
    const unit = sleepUnits[match[2] || 's'];
    if (unit === undefined) return undefined;
    seconds += amount * unit;
  }
  return operands.length === 0 ? undefined : seconds;
}
