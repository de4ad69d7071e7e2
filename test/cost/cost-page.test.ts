// docs/cost.md gives each formula with an example: a manifest, then the lines that gpulint shows for it. The page cannot go stale.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { readPriceFile } from '../../server/src/config/price-file.ts';
import type { ProjectConfig } from '../../server/src/config.ts';
import { codeLenses } from '../../server/src/features/code-lens.ts';
import { hover } from '../../server/src/features/hover/hover.ts';
import { renderPlain } from '../../server/src/features/hover/render.ts';
import { configOf } from '../support/config-line.ts';

const page = readFileSync('docs/cost.md', 'utf8');
const examples = [...page.matchAll(/^```yaml\n([\s\S]*?)^```\n+```text\n([\s\S]*?)^```$/gm)].map(
  ([, manifest = '', shown = '']) => ({ manifest, lines: shown.trimEnd().split('\n') }),
);

describe('docs/cost.md', () => {
  test('has an example with its amounts for every manifest', () => {
    expect(examples.length).toBe(page.match(/^```yaml$/gm)?.length);
    expect(examples.length).toBeGreaterThanOrEqual(15);
  });

  test.each(examples.map((example) => [example.lines[0], example] as const))('%s', (_, { manifest, lines }) => {
    const shown = shownFor(manifest);
    for (const line of lines) expect(shown).toContain(line);
  });

  test('names the formula and the source in every section about an amount', () => {
    const sections = page.split(/^## /m).slice(1);
    const amounts = sections.filter((section) => section.includes('```yaml'));
    for (const section of amounts) expect(section, section.slice(0, 40)).toMatch(/^Source: /m);
  });
});

/** The lenses of a manifest, and every line of the hovers of its objects, counts and flags. */
function shownFor(manifest: string): readonly string[] {
  const file = new Analysis({ strict: true }).setFile('file:///example.yaml', manifest, 0, configWithPrices(manifest));
  const places = [...manifest.matchAll(/kind: |nvidia\.com\/\S|google\.com\/t|--save|minReplicas/g)];
  const hovers = places.map(({ index, 0: { length } }) => hover(file, index + length));
  return [
    ...codeLenses(file).map(({ title }) => title),
    ...hovers.flatMap((content) => (content === undefined ? [] : renderPlain(content.blocks).split('\n'))),
  ].map((line) => line.replace(/^- /, ''));
}

/** The config of an example, and the prices of its price file: a line `# default.json: {"GPU": "0.95"}`. */
function configWithPrices(manifest: string): ProjectConfig {
  const config = configOf(manifest);
  const prices = /^# default\.json: (.*)$/m.exec(manifest)?.[1];
  if (prices === undefined) return config;
  const rates = readPriceFile(prices);
  if (typeof rates === 'string') throw new Error(rates);
  return { ...config, prices: { ...config.prices, rates } };
}
