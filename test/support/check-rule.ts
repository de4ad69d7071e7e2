import { expect } from 'vitest';
import type { ProjectConfig } from '../../server/src/config.ts';
import { applyEdits } from '../../server/src/yaml/span.ts';
import { analyse, type FileFinding, findingsOf, only } from './analyse.ts';
import { fixProblems } from './check-fixes.ts';
import { configOf } from './config-line.ts';
import { type FixtureCase, withoutCarets } from './rule-fixture.ts';

/** Variants in which every case must give the same answer: they shift offsets and nothing else. */
const variants: readonly { readonly name: string; readonly lines: number; readonly apply: (text: string) => string }[] =
  [
    { name: 'as it is', lines: 0, apply: (text) => text },
    { name: 'with CRLF', lines: 0, apply: (text) => text.replaceAll('\n', '\r\n') },
    { name: 'with a BOM and an emoji', lines: 1, apply: (text) => `\uFEFF# 🚀 naïve\n${text}` },
  ];

/** Runs one rule on a case: its findings and the carets must match exactly, and its fixes must keep their promises. */
export function checkRule(rule: string, fixture: FixtureCase): void {
  const config = configOf(fixture.text);
  for (const { name, lines, apply } of variants) {
    const text = apply(fixture.text);
    const findings = findingsOf(analyse(text, only(rule, config)));
    expect(render(text, findings, lines), `findings ${name}`).toEqual(
      fixture.expected.map(
        (one) =>
          `${one.line + 1}:${one.column + 1}-${one.endLine + 1}:${one.endColumn + 1} ${one.severity}[${one.rule}]`,
      ),
    );
    findings.forEach((finding, index) => {
      expect(finding.message).toContain(fixture.expected[index]?.message);
      expect(finding.message.length, finding.message).toBeLessThanOrEqual(160);
      for (const fix of finding.fixes) {
        expect(fixProblems(text, finding, fix, config), `${name}: ${fix.title}`).toEqual([]);
      }
    });
  }
}

/** The result of each fix on the case without its carets: the text of a `.fixed.yaml`. */
export function renderFixes(rule: string, fixture: FixtureCase): string {
  const text = withoutCarets(fixture.text);
  const config: ProjectConfig = only(rule, configOf(text));
  return findingsOf(analyse(text, config))
    .flatMap(({ fixes }) => fixes)
    .map(
      (fix) => `#### ${fixture.name} > ${fix.title} (${fix.safe ? 'safe' : 'unsafe'})\n${applyEdits(text, fix.edits)}`,
    )
    .join('');
}

function render(text: string, findings: readonly FileFinding[], lines: number): readonly string[] {
  return findings.map(
    ({ span, severity, rule }) =>
      `${place(text, span.start, lines)}-${place(text, span.end, lines)} ${severity}[${rule}]`,
  );
}

function place(text: string, offset: number, lines: number): string {
  const before = text.slice(0, offset).split('\n');
  return `${before.length - lines}:${(before.at(-1)?.length ?? 0) + 1}`;
}
