// @ts-check
// docs/performance.md has a part from each benchmark, between marks, and each writes its own.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const page = path.join(import.meta.dirname, '..', 'docs', 'performance.md');

/** @param {string} name @param {string} part */
export function writePart(name, part) {
  const [begin, end] = [`<!-- ${name}: written by \`npm run ${name}\` -->`, `<!-- ${name}: end -->`];
  const text = readFileSync(page, 'utf8');
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  const whole = `${begin}\n${part.trim()}\n${end}`;
  writeFileSync(
    page,
    from === -1 || to === -1
      ? `${text.trimEnd()}\n\n${whole}\n`
      : text.slice(0, from) + whole + text.slice(to + end.length),
  );
}
