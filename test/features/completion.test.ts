import { describe, expect, test } from 'vitest';
import { Analysis } from '../../server/src/analysis.ts';
import { complete } from '../../server/src/features/completion/completion.ts';
import type { Completion } from '../../server/src/features/completion/completion-item.ts';
import { completeConfig, hoverConfig } from '../../server/src/features/completion/config-help.ts';
import { yamlPosition } from '../../server/src/features/completion/yaml-position.ts';
import { renderPlain } from '../../server/src/features/hover/render.ts';
import { configOf } from '../support/config-line.ts';
import { goldenTests } from '../support/golden.ts';
import { takeCursor } from '../support/marked-text.ts';

describe('in a manifest', () => {
  goldenTests('test/fixtures/features/completion', (marked) => {
    const { text, offset } = takeCursor(marked);
    const config = configOf(text);
    return render(text, complete(new Analysis().setFile('file:///a.yaml', text, 0, config), offset));
  });

  test('offers directives and then rule ids in a comment', () => {
    const at = (marked: string) => {
      const { text, offset } = takeCursor(marked);
      const found = complete(new Analysis().setFile('file:///a.yaml', text), offset);
      return found.map(({ label, span }) => `${text.slice(0, span.start)}${label}`);
    };
    expect(at('# gpu$0')).toContain('# gpulint-disable-next-line');
    expect(at('a: 1 # gpulint-disable-line $0')).toContain('a: 1 # gpulint-disable-line toleration-invalid');
    expect(at('# gpulint-disable yaml-syntax, tol$0')).toContain('# gpulint-disable yaml-syntax, toleration-invalid');
    expect(at('# why $0')).toEqual([]);
    expect(at('metadata:\n  annotations:\n    gpulint.dev/disable: $0')).toContain(
      'metadata:\n  annotations:\n    gpulint.dev/disable: toleration-invalid',
    );
  });

  test('answers at every offset and replaces only the word', () => {
    const text = takeCursor(
      `apiVersion: v1\r\nkind: Pod\r\nspec: {a: [1, {b: c}]}\r\n  tolerations:\r\n  - key: "x"\r\n    # c\r\n  -\r\n- - a: |\r\n  {{ x }}\r\n\t$0`,
    ).text;
    const file = new Analysis().setFile('file:///a.yaml', text);
    for (let offset = 0; offset <= text.length; offset += 1) {
      for (const { span } of complete(file, offset)) {
        expect(text.slice(span.start, span.end)).not.toMatch(/[\s:]/);
        expect(span.start).toBeLessThanOrEqual(offset);
        expect(span.end).toBeGreaterThanOrEqual(offset);
      }
    }
  });
});

describe('in .gpulint.yaml', () => {
  goldenTests('test/fixtures/features/config-completion', (marked) => {
    const { text, offset } = takeCursor(marked);
    return render(text, completeConfig(text, offset));
  });

  test('offers the regions of the provider, and what a rule is', () => {
    const at = (marked: string) => {
      const { text, offset } = takeCursor(marked);
      return completeConfig(text, offset).map(({ label, detail }) => `${label} (${detail})`);
    };
    const google = at('platform: gke-standard\nregion: $0\n');
    expect(google[0]).toBe('us-central1 (Google Cloud)');
    expect(google.every((one) => one.endsWith('(Google Cloud)'))).toBe(true);
    expect(at('provider: aws\noverrides:\n  - region: $0\n')).toContain('eu-west-1 (AWS)');
    expect(at('region: $0\n')).toEqual(expect.arrayContaining(['us-central1 (Google Cloud)', 'us-east-1 (AWS)']));
    expect(at('rules:\n  gpu-lim$0\n')).toContain('gpu-limits-required (gpu-request, error by default)');
  });

  test('the hover describes the key', () => {
    const content = hoverConfig('overrides:\n  - files: [a]\n    capacity: spot\n', 35);
    expect(content && renderPlain(content.blocks)).toBe(
      'capacity\n\nCapacity type of GPU nodes if a manifest names none.\n\nOne of: spot, on-demand.',
    );
    const rule = hoverConfig('rules:\n  gpu-limits-required: off\n', 12);
    expect(rule && renderPlain(rule.blocks)).toMatch(
      /^gpu-limits-required\n\nSeverity of this rule, error by default; off disables it\./,
    );
    expect(hoverConfig('capacity: spot\n', 12)).toBeUndefined();
    expect(hoverConfig('nothing: spot\n', 2)).toBeUndefined();
  });
});

describe('a position', () => {
  test.each([
    ['a:\n  b:\n    $0', ['a', 'b'], 'key'],
    ['a:\n  b:\n    c: 1\n  $0', ['a'], 'key'],
    ['a:\n- b: 1\n  c$0', ['a', '-'], 'key'],
    ['a:\n- b: 1\n- c$0', ['a', '-'], 'key'],
    ['a:\n  - b:\n      - c: $0', ['a', '-', 'b', '-'], 'value'],
    ['a:\n  - - b$0', ['a', '-', '-'], 'key'],
    ['a:\n  # c\n\n  b: x$0y', ['a'], 'value'],
    ['a: &x\n  b$0', ['a'], 'key'],
    ['"a/b.c":\n  d$0', ['a/b.c'], 'key'],
    ['$0', [], 'key'],
    ['a: 1 # x$0', [], 'comment'],
  ] as const)('%j', (marked, path, part) => {
    const { text, offset } = takeCursor(marked);
    expect(yamlPosition(text, offset)).toMatchObject({ path, part });
  });

  test.each([
    '{\n  "limits": {\n    "b$0',
    'a: [\n  b$0',
    'a: |\n  b$0',
    'a: {b$0',
    'a: >-\n  x:\n    y$0',
    '- {{ x$0',
  ])('%j is none', (marked) => {
    const { text, offset } = takeCursor(marked);
    expect(yamlPosition(text, offset)).toBeUndefined();
  });
});

function render(text: string, completions: readonly Completion[]): string {
  const lines = completions.map(
    ({ label, detail, insert, span, rank }) =>
      `${String(rank).padStart(3)} ${label}${detail === '' ? '' : ` (${detail})`}\n      [${text.slice(span.start, span.end)}] -> ${JSON.stringify(insert)}\n`,
  );
  return lines.join('') || 'nothing\n';
}
