import { describe, expect, test } from 'vitest';
import { defaultConfig } from '../../server/src/config.ts';
import { lowerDocument } from '../../server/src/model/lower.ts';
import { fix } from '../../server/src/rewrite/fix.ts';
import { defineRule, type Rule, type RuleNumbers, type RulesOptions } from '../../server/src/rules/rule.ts';
import { type RunInput, type RunResult, runRules, runRulesOnAll } from '../../server/src/rules/run.ts';
import { keySpanOf } from '../../server/src/yaml/cursor.ts';
import { parseDocument } from '../../server/src/yaml/parse.ts';
import { table } from '../../server/src/yaml/table.ts';

const pod = `apiVersion: v1
kind: Pod
metadata:
  name: three
spec:
  initContainers:
    - {name: init, image: registry.example/a:1}
    - {name: sidecar, image: registry.example/a:1, restartPolicy: Always}
  containers:
    - {name: app, image: registry.example/a:1}
`;

const counts = defineRule({
  topic: 'other',
  severity: 'info',
  manifest: (manifest, { report }) => report({ message: `manifest ${manifest.name}`, span: { start: 0, end: 1 } }),
  workload: (workload, { report }) => report({ message: `workload ${workload.name}`, span: { start: 1, end: 2 } }),
  podSet: (podSet, { report }) => report({ message: `podSet ${podSet.name}`, span: { start: 2, end: 3 } }),
  container: (container, { report }) =>
    report({ message: `${container.type} ${container.name}`, span: keySpanOf(container.at) }),
});

const throws = defineRule({
  topic: 'other',
  severity: 'error',
  container() {
    throw new TypeError('no such thing');
  },
});

function run(
  registry: Readonly<Record<string, Rule>>,
  rules: RulesOptions = table(),
  text = pod,
  strict = false,
  ruleOptions: RuleNumbers = table(),
) {
  return runRules(inputOf(registry, rules, text, strict, ruleOptions));
}

function inputOf(
  registry: Readonly<Record<string, Rule>>,
  rules: RulesOptions = table(),
  text = pod,
  strict = false,
  ruleOptions: RuleNumbers = table(),
): RunInput {
  const document = parseDocument(text, 0);
  return {
    document,
    ...lowerDocument(document, defaultConfig),
    options: defaultConfig,
    rules,
    ruleOptions,
    costOf: () => ({ cost: null, unknown: { kind: 'noAccelerator' }, podSets: [] }),
    registry: new Map(Object.entries(registry)),
    strict,
  };
}

const weighs = defineRule({
  topic: 'other',
  severity: 'info',
  options: { grams: { default: 5, least: 1, description: 'What it weighs.' } },
  manifest: (_, { option, report }) => report({ message: `${option('grams')} g`, span: { start: 0, end: 1 } }),
});

const forgets = defineRule({
  topic: 'other',
  severity: 'info',
  manifest: (_, { option }) => void option('grams'),
});

const corrects = defineRule({
  topic: 'other',
  severity: 'error',
  manifest: (_, { report }) =>
    report({
      message: 'wrong',
      span: { start: 0, end: 1 },
      fixes: () => [fix('Correct it', 'safe', [{ span: { start: 0, end: 0 }, newText: '# correct\n' }]), undefined],
    }),
});

describe('the runner', () => {
  test('finds the same in documents together as in each alone', () => {
    const other = pod.replace('name: three', 'name: four');
    const options = table({ weighs: table({ grams: 1 }) });
    const inputs = [
      inputOf({ counts, throws, corrects }),
      inputOf({ counts, throws, corrects }, table(), other),
      inputOf({ weighs }, table(), other, false, options),
      inputOf({ weighs, corrects }, table({ corrects: 'off' })),
    ];
    const plain = ({ findings, ...rest }: RunResult) => ({
      ...rest,
      findings: findings.map(({ rule, message, span, severity, workload, container, fixes }) => ({
        ...{ rule, message, span, severity, container, workload: workload?.name },
        fixes: fixes.map(({ title }) => title),
      })),
    });
    const together = runRulesOnAll(inputs).map(plain);
    expect(together).toEqual(inputs.map((input) => plain(runRules(input))));
    expect(together.map(({ findings }) => findings.length > 0)).toEqual([true, true, true, true]);
    expect(together.map(({ crashes }) => crashes.length > 0)).toEqual([true, true, false, false]);
  });

  test('no fix in a template is safe', () => {
    const safe = (text: string) =>
      run({ corrects }, table(), text).findings.flatMap(({ fixes }) => fixes.map((one) => one.safe));
    expect(safe(pod)).toEqual([true]);
    expect(safe(pod.replace('name: three', 'name: "{{ .Release.Name }}"'))).toEqual([false]);
  });

  test('gives a rule its options, from the project or by default', () => {
    const messages = (ruleOptions: RuleNumbers) =>
      run({ weighs, light: weighs }, table(), pod, false, ruleOptions).findings.map(
        ({ rule, message }) => `${rule} ${message}`,
      );
    expect(messages(table())).toEqual(['light 5 g', 'weighs 5 g']);
    expect(messages(table({ light: table({ grams: 1 }) }))).toEqual(['light 1 g', 'weighs 5 g']);
    expect(run({ forgets }).crashes).toEqual([{ rule: 'forgets', error: 'rule forgets has no option grams' }]);
  });

  test('calls a rule once at each level, and for init, sidecar and app containers', () => {
    const messages = run({ counts }).findings.map(({ message }) => message);
    expect(messages).toEqual([
      'manifest three',
      'workload three',
      'podSet pod',
      'init init',
      'sidecar sidecar',
      'app app',
    ]);
  });

  test('adds the fields that a report omits', () => {
    const [, workload, , container] = run({ counts }).findings;
    expect(workload).toMatchObject({ rule: 'counts', topic: 'other', severity: 'info', container: null, saving: null });
    expect(container).toMatchObject({ container: 'init', workload: { kind: 'Pod' }, fixes: [] });
  });

  test('the config sets severities', () => {
    expect(run({ counts }, table({ counts: 'error' })).findings.every(({ severity }) => severity === 'error')).toBe(
      true,
    );
    expect(run({ counts }, table({ counts: 'off' })).findings).toEqual([]);
  });

  test('a rule that throws is named, and the other findings stay', () => {
    const { findings, crashes } = run({ throws, counts });
    expect(findings.length).toBe(6);
    expect(crashes).toEqual(Array(3).fill({ rule: 'throws', error: 'no such thing' }));
    expect(() => run({ throws }, table(), pod, true)).toThrow('no such thing');
  });
});

describe('suppressions', () => {
  const messages = (text: string) => run({ counts }, table(), text).findings.map(({ message }) => message);

  test('comments: the line, the next line with content, the rest of the document', () => {
    expect(
      messages(
        pod.replace(
          '    - {name: init',
          '    # gpulint-disable-next-line counts -- why\n    # more\n\n    - {name: init',
        ),
      ),
    ).not.toContain('init init');
    expect(messages(pod.replace('a:1, restart', 'a:1, # gpulint-disable-line counts\n       restart'))).not.toContain(
      'sidecar sidecar',
    );
    const rest = messages(pod.replace('  containers:', '  # gpulint-disable\n  containers:'));
    expect(rest).toContain('sidecar sidecar');
    expect(rest).not.toContain('app app');
  });

  test('other ids, and words that only start alike, suppress nothing', () => {
    expect(messages(pod.replace('name: three', 'name: three\n# gpulint-disable other-rule')).length).toBe(6);
    expect(messages(pod.replace('name: three', 'name: three\n# gpulint-disabled')).length).toBe(6);
  });

  test('an annotation works in JSON, only for its object', () => {
    const object = (name: string, annotations: object) => ({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, annotations },
      spec: { containers: [{ name: `in-${name}`, image: 'registry.example/a:1' }] },
    });
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      items: [object('quiet', { 'gpulint.dev/disable': 'one, counts' }), object('loud', {})],
    };
    const found = messages(JSON.stringify(list));
    expect(found).toContain('app in-loud');
    expect(found).not.toContain('app in-quiet');
  });

  test('reports which ones were used', () => {
    const text = pod
      .replace('name: three', 'name: three # gpulint-disable-line counts')
      .replace('  containers:', '  # gpulint-disable counts\n  containers:');
    expect(
      run({ counts }, table(), text).suppressions.map(({ suppression, used }) => [suppression.scope, used]),
    ).toEqual([
      ['line', false],
      ['document', true],
    ]);
  });
});
