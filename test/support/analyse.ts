import { Analysis, type FileAnalysis } from '../../server/src/analysis.ts';
import { defaultConfig, type ProjectConfig } from '../../server/src/config.ts';
import { ruleIds } from '../../server/src/rules/index.ts';
import type { Finding } from '../../server/src/rules/rule.ts';
import { shiftSpan, type TextEdit } from '../../server/src/yaml/span.ts';
import { table, tableOf } from '../../server/src/yaml/table.ts';

/** A finding with spans and edits relative to the file instead of its document. */
export interface FileFinding extends Finding {
  readonly document: number;
}

/** A file as the editor and the CLI see it. Exceptions in rules are rethrown. */
export function analyse(text: string, config: ProjectConfig = defaultConfig): FileAnalysis {
  const analysis = new Analysis({ strict: true });
  analysis.setConfig(config);
  analysis.setFile('file:///fixture.yaml', text);
  const file = analysis.file('file:///fixture.yaml');
  if (file === undefined) throw new Error('the analysis lost its file');
  return file;
}

/** The findings of all documents of a file, in text order. */
export function findingsOf(file: FileAnalysis): readonly FileFinding[] {
  return file.documents.flatMap(({ base, findings }, document) =>
    findings.map((finding) => ({
      ...finding,
      document,
      span: shiftSpan(finding.span, base),
      fixes: finding.fixes.map((fix) => ({
        ...fix,
        edits: fix.edits.map(({ span, newText }): TextEdit => ({ span: shiftSpan(span, base), newText })),
      })),
    })),
  );
}

/** The config with every rule but one turned off. */
export function only(rule: string, config: ProjectConfig): ProjectConfig {
  const off = tableOf(ruleIds.filter((id) => id !== rule).map((id) => [id, 'off'] as const));
  return { ...config, rules: table(config.rules, off) };
}
