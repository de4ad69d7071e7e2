import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { expect, test } from 'vitest';
import oniguruma from 'vscode-oniguruma';
import textmate from 'vscode-textmate';

const root = path.join(import.meta.dirname, '../..');
const fixtures = path.join(root, 'test/fixtures/syntaxes');
const manifest = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));

/** The grammars that package.json injects into YAML, over a small grammar of YAML. */
async function loadYaml(): Promise<textmate.IGrammar> {
  const engine = createRequire(import.meta.url).resolve('vscode-oniguruma/release/onig.wasm');
  await oniguruma.loadWASM(readFileSync(engine));
  const files = new Map<string, string>([['source.yaml', path.join(fixtures, 'yaml.tmLanguage.json')]]);
  for (const { scopeName, path: file } of manifest.contributes.grammars) files.set(scopeName, path.join(root, file));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (scope) => {
      const file = files.get(scope);
      return file === undefined ? null : textmate.parseRawGrammar(readFileSync(file, 'utf8'), file);
    },
    getInjections: () => manifest.contributes.grammars.map(({ scopeName }: { scopeName: string }) => scopeName),
  });
  const grammar = await registry.loadGrammar('source.yaml');
  if (grammar === null) throw new Error('the grammar was not loaded');
  return grammar;
}

test('accelerators, slices and suppressions have scopes of their own, and nothing else has', async () => {
  const grammar = await loadYaml();
  let state = textmate.INITIAL;
  const lines: string[] = [];
  for (const line of readFileSync(path.join(fixtures, 'scopes.yaml'), 'utf8').split('\n')) {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    state = ruleStack;
    lines.push(line);
    for (const { startIndex, endIndex, scopes } of tokens) {
      const own = scopes.filter((scope) => scope.endsWith('.gpulint'));
      if (own.length > 0) lines.push(`    ${line.slice(startIndex, endIndex)} -> ${own.join(' ')}`);
    }
  }
  const answer = path.join(fixtures, 'scopes.txt');
  if (process.env.UPDATE === '1') writeFileSync(answer, lines.join('\n'));
  expect(lines.join('\n')).toBe(readFileSync(answer, 'utf8'));
});
