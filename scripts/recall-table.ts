// Plants every rule's mistake in manifests that are clean of it, and prints as a Markdown table how many were found. By default over the
// project's own fixtures; with folders or files as arguments over those too:
// npx tsx scripts/recall-table.ts [--most 6] [folder or list.txt ...]
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { newScores, plantMistakes, type Score } from '../test/planted-mistakes/run.ts';

const fixtures = path.join(import.meta.dirname, '../test/fixtures/clean');

function main(): void {
  const { most, places } = readArguments(process.argv.slice(2));
  const own = score(filesIn(fixtures), most);
  const others = score(places.flatMap(filesIn), most);
  const rules = [...new Set([...own.keys(), ...others.keys()])].sort();
  const rows = rules.map((rule) => [rule, ...cells(own.get(rule)), ...cells(others.get(rule))]);
  const sum = (column: number) => rows.reduce((total, row) => total + Number(row[column]), 0);
  console.log('| Rule | Fixtures: made | found | Files: made | found | missed |');
  console.log('| --- | --: | --: | --: | --: | --: |');
  for (const row of [...rows, ['all', sum(1), sum(2), sum(3), sum(4), sum(5), sum(6)]]) {
    const [rule, made, found, , madeThere, foundThere, missed] = row;
    console.log(`| ${[rule, made, found, madeThere, foundThere, missed].join(' | ')} |`);
  }
  const misses = [...own.values(), ...others.values()].flatMap(({ misses: list }) => list);
  for (const miss of misses) console.error(`missed: ${miss}`);
}

function score(files: readonly string[], most: number): Map<string, Score> {
  const scores = newScores();
  for (const file of files) plantMistakes(file, readFileSync(file, 'utf8'), scores, { leaveOut: true, most });
  return scores;
}

function cells(of: Score | undefined): readonly number[] {
  return of === undefined ? [0, 0, 0] : [of.cases, of.found, of.misses.length];
}

function readArguments(words: readonly string[]): { readonly most: number; readonly places: readonly string[] } {
  const at = words.indexOf('--most');
  return {
    most: at < 0 ? 6 : Number(words[at + 1]),
    places: at < 0 ? words : words.filter((_, index) => index !== at && index !== at + 1),
  };
}

/** A list names one file a line; of a folder, everything in it that is YAML or JSON. */
function filesIn(place: string): readonly string[] {
  if (statSync(place).isDirectory()) {
    return readdirSync(place, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(ya?ml|json)(\.\w+)?$/.test(entry.name))
      .map((entry) => path.join(entry.parentPath, entry.name));
  }
  return place.endsWith('.txt') ? readFileSync(place, 'utf8').split('\n').filter(Boolean) : [place];
}

main();
