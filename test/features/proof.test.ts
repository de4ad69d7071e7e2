// The only gate before every fix: a rule's edits are applied to a copy, and the copy is parsed.
import { describe, expect, test } from 'vitest';
import { Analysis, type FileAnalysis } from '../../server/src/analysis.ts';
import { applySafeFixes } from '../../server/src/cli/apply-fixes.ts';
import { codeActions } from '../../server/src/features/actions/code-actions.ts';
import { disjoint } from '../../server/src/features/actions/disjoint.ts';
import { type Change, largestGood, type Place, prove } from '../../server/src/features/actions/proof.ts';
import { fixesOfRule, reportedFixes, safeFixes } from '../../server/src/features/actions/safe-fixes.ts';
import { applyEdits } from '../../server/src/yaml/span.ts';
import { analyse, findingsOf } from '../support/analyse.ts';
import { fixProblems } from '../support/check-fixes.ts';

const pod = (name = 'one') => `apiVersion: v1
kind: Pod
metadata:
  name: ${name}
spec:
  containers:
    - name: main # the only one
      image: busybox:1.36
      resources:
        requests:
          nvidia.com/gpu: 1
`;

/** All ways in which the editor or the command line changes a text. */
function offered(text: string): readonly string[] {
  const analysis = new Analysis({ strict: true });
  const file = analysis.setFile('file:///fixture.yaml', text);
  const whole = { span: { start: 0, end: text.length }, only: undefined, shown: [], picker: false };
  const rules = new Set(findingsOf(file).map(({ rule }) => rule));
  return [
    ...codeActions(file, whole).map(({ title }) => title),
    ...[...rules].flatMap((rule) => fixesOfRule(file, rule)).map(({ title }) => title),
    ...safeFixes(file).map(({ title }) => title),
    ...applySafeFixes(analysis, file).applied.map(({ title }) => title),
  ];
}

test('one broken document of many does not cost the others a copy of the file each', () => {
  const deployment = (name: string) =>
    `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: ${name}}\nspec:\n  replicas: "2"\n  selector: {matchLabels: {a: b}}\n` +
    `  template:\n    metadata: {labels: {a: b}}\n    spec:\n      containers:\n        - {name: main, image: "registry.example/a:1", ` +
    'resources: {limits: {nvidia.com/gpu: 1}}}\n';
  const many = Array.from({ length: 60 }, (_, index) => deployment(`d${index}`));
  const broken = pod('broken').replace('busybox:1.36', '"busybox:1.36');
  const file = new Analysis().setFile('file:///fixture.yaml', [broken, ...many].join('---\n'));
  const { counted, copies } = countCopies(file);
  expect(safeFixes(counted)).toHaveLength(many.length);
  expect(reportedFixes(counted).size).toBeGreaterThanOrEqual(many.length);
  expect(copies()).toBeLessThan(5);
});

test('several fixes for each of many objects that others can depend on share their copies', () => {
  const pool = (name: string) =>
    `apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: ${name}}\nspec:\n  template:\n    spec:\n      expireAfter: 5m\n` +
    '      requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [p4d.24xlarge]}]\n';
  const pools = Array.from({ length: 40 }, (_, index) => pool(`p${index}`));
  const { counted, copies } = countCopies(new Analysis().setFile('file:///fixture.yaml', pools.join('---\n')));
  expect(reportedFixes(counted).size).toBe(3 * pools.length);
  expect(copies()).toBeLessThan(10);
});

test('many fixes that all fail in their own documents cost few copies', () => {
  const pods = Array.from({ length: 30 }, (_, index) => pod(`p${index}`));
  const file = new Analysis().setFile('file:///fixture.yaml', pods.join('---\n'));
  // No change takes effect, so none clears its finding.
  const documents = file.documents.map((one) => Object.create(one, { withText: { value: () => one } }));
  const { counted, copies } = countCopies(
    Object.create(file, { documents: { value: documents }, withText: { value: () => file } }),
  );
  expect(reportedFixes(counted).size).toBe(0);
  expect(copies()).toBeLessThan(5);
});

test('a copy of a file judges again only what its change concerns, and leaves the file as it is', () => {
  const served = (name: string) =>
    `apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: ${name}}\nspec: {accessModes: [ReadWriteOnce], storageClassName: gp3, resources: {requests: {storage: 9Gi}}}\n` +
    `---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: ${name}}\nspec:\n  replicas: 2\n  selector: {matchLabels: {app: ${name}}}\n` +
    `  template:\n    metadata: {labels: {app: ${name}}}\n    spec:\n      containers: [{name: main, image: "a/b:1", resources: {limits: {nvidia.com/gpu: 1}}, volumeMounts: [{name: w, mountPath: /w}]}]\n` +
    `      volumes: [{name: w, persistentVolumeClaim: {claimName: ${name}}}]\n`;
  const text = ['one', 'two'].map(served).join('---\n');
  const changed = text.replace('ReadWriteOnce', 'ReadWriteMany');
  const fresh = new Analysis().setFile('file:///fixture.yaml', changed);
  const analysis = new Analysis();
  const file = analysis.setFile('file:///fixture.yaml', text);
  const copy = file.withText(changed);
  const messagesOf = ({ documents }: FileAnalysis) =>
    documents.map(({ findings }) => findings.map((one) => one.message));
  expect(messagesOf(copy)).toEqual(messagesOf(fresh));
  expect(messagesOf(copy)).not.toEqual(messagesOf(file));
  const kept = file.documents.map(({ findings }, index) => findings === copy.documents[index]?.findings);
  expect(kept).toEqual([false, false, true, true]);
  const costs = ({ documents }: FileAnalysis) =>
    documents.flatMap(({ workloads }) => workloads.map(({ podSets }) => podSets[0]?.pods));
  expect(costs(file)).toEqual(costs(new Analysis().setFile('file:///fixture.yaml', text)));
  expect(analysis.file('file:///fixture.yaml')?.documents.map(({ findings }) => findings)).toEqual(
    file.documents.map(({ findings }) => findings),
  );
});

/** The file, and how often it was copied. */
function countCopies(file: FileAnalysis) {
  let copies = 0;
  const counted: FileAnalysis = Object.create(file, {
    withText: {
      value: (text: string) => {
        copies += 1;
        return file.withText(text);
      },
    },
  });
  return { counted, copies: () => copies };
}

describe('nothing is offered for', () => {
  const limits = '        limits:\n          nvidia.com/gpu: "2"\n';
  test.each([
    ['wrong indentation', pod().replace('        requests:', '          requests:') + limits],
    ['two documents with the marker joined to a value', pod().replace(/\n$/, '---\n') + pod('two')],
    ['an unclosed quote', pod().replace('busybox:1.36', '"busybox:1.36')],
    ['a truncated line', pod().replace('      resources:\n', '      resour\n')],
    ['a lone carriage return', pod().replace('busybox:1.36\n', 'busybox:1.36\r      tty: true\n')],
    ['an encrypted file', `${pod()}sops:\n  mac: ENC[AES256_GCM,data:x,iv:x,tag:x,type:str]\n  version: 3.9.0\n`],
    ['a line separator of YAML 1.1', pod().replace('the only one', 'the only\u2028one')],
  ])('%s', (_, text) => {
    expect(findingsOf(analyse(text)).length, 'the text has findings').toBeGreaterThan(0);
    expect(offered(text)).toEqual([]);
  });

  test('a broken document, while the other documents keep their fixes', () => {
    const broken = pod('two').replace('busybox:1.36', '"busybox:1.36');
    const text = `${pod()}---\n${broken}---\n${pod('three')}`;
    const changed = codeActions(analyse(text), {
      span: { start: 0, end: text.length },
      only: ['source'],
      shown: [],
      picker: false,
    }).flatMap(({ edits }) => edits ?? []);
    const fixed = applyEdits(text, changed);
    expect(changed.length).toBe(2);
    expect(fixed).toContain(broken);
  });
});

describe('rejects a change that', () => {
  const insert = (at: number, newText: string): Change => ({ edits: [{ span: { start: at, end: at }, newText }] });
  const first = (text: string, index = 0): Place => {
    const file = analyse(text);
    return { file, document: file.documents[index]! };
  };
  const budget = { characters: 1_000_000, fileCharacters: 1_000_000 };
  const replace = (text: string, old: string, newText: string): Change => {
    const start = text.indexOf(old);
    return { edits: [{ span: { start, end: start + old.length }, newText }] };
  };
  const text = pod();

  test.each<[string, Place, Change]>([
    ['changes nothing', first(text), replace(text, 'busybox', 'busybox')],
    ['starts another document', first(text), insert(text.length, '---\nkind: Pod\n')],
    ['removes the line ending before the next document', first(`${text}---\n${text}`), replace(text, ': 1\n', ': 1')],
    [
      'takes the marker of its document',
      first(`${text}---\n${text}`, 1),
      { edits: [{ span: { start: 0, end: 4 }, newText: '' }] },
    ],
    ['breaks the syntax', first(text), replace(text, 'name: main', 'name: "main')],
    ['loses a comment', first(text), replace(text, ' # the only one', '')],
    ['writes a template', first(text), replace(text, 'busybox', '{{ image }}')],
    ['writes LF into CRLF', first(text.replaceAll('\n', '\r\n')), insert(0, '# new\n')],
    ['writes CRLF into LF', first(text), insert(0, '# new\r\n')],
    ['reaches beyond its document', first(text), insert(text.length + 1, '# new\n')],
    ['causes an error', first(text), replace(text, 'nvidia.com/gpu: 1', 'nvidia.com/gpu: 0.5')],
    ['turns JSON into YAML', first('{"kind": "Pod"}\n'), replace('{"kind": "Pod"}\n', '"Pod"', 'Pod')],
    ['does not clear its finding', first(text), { ...insert(0, '# new\n'), finding: findingsOf(analyse(text))[0]! }],
  ])('%s', (_, place, change) => {
    expect(prove(place, [change], budget)).toBeUndefined();
  });

  test('overlaps another', () => {
    const change = replace(text, 'busybox:1.36', 'busybox:1.37');
    expect(prove(first(text), [change], budget)).toBeDefined();
    expect(prove(first(text), [change, change], budget)).toBeUndefined();
    expect(disjoint([change, change])).toEqual([change]);
  });
});

test('removes bad halves until the rest is good', () => {
  const isGood = (some: readonly number[]) => !some.includes(3) && !(some.includes(5) && some.includes(6));
  expect(largestGood([1, 2, 3, 4, 5, 6], isGood)).toEqual([1, 2, 4, 5]);
  expect(largestGood([3], isGood)).toEqual([]);
});

test('each of the many fixes for a selection keeps its promises on its own', () => {
  const container = (index: number) => `    - name: c${index}
      image: busybox:1.36
      resources:
        requests:
          nvidia.com/gpu: 1
`;
  const head = 'apiVersion: v1\nkind: Pod\nmetadata:\n  name: many\nspec:\n  containers:\n';
  const text = head + Array.from({ length: 40 }, (_, index) => container(index)).join('');
  const file = analyse(text);
  const findings = findingsOf(file);
  const span = { start: 0, end: text.length };
  const actions = codeActions(file, { span, only: ['quickfix'], shown: [], picker: false });
  const fixes = actions.filter(({ title }) => !/^(Silence|Fix all|Apply all)/.test(title));
  expect(fixes.length).toBeGreaterThanOrEqual(40);
  for (const { title, edits = [], finding } of fixes) {
    const own = findings.find(
      ({ rule, span: { start } }) => rule === finding?.finding.rule && start === finding.finding.span.start,
    );
    expect(fixProblems(text, own!, { title, safe: true, edits }, file.config), title).toEqual([]);
  }
});

describe('a fix that causes a finding in another document', () => {
  const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: worker}
spec:
  selector: {matchLabels: {app: worker}}
  template:
    metadata: {labels: {app: worker}}
    spec:
      containers:
        - name: worker
          image: vllm/vllm-openai:v0.8.0
          args: [--model=Qwen/Qwen3-8B]
          resources: {limits: {nvidia.com/gpus: 1}}
`;
  const scaler = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: worker}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: worker}
  minReplicas: 1
  maxReplicas: 3
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
`;
  const title = 'Rename to nvidia.com/gpu';

  test.each([
    ['after it', `${deployment}---\n${scaler}`],
    ['before it', `${scaler}---\n${deployment}`],
  ])('is not made, %s', (_, text) => {
    expect(findingsOf(analyse(deployment))[0]?.fixes.map((fix) => fix.title)).toEqual([title]);
    expect(offered(deployment)).toContain(title);
    // The findings are not computed before the proof of the fix.
    const analysis = new Analysis({ strict: true });
    expect(applySafeFixes(analysis, analysis.setFile('file:///fixture.yaml', text)).applied).toEqual([]);
    expect(offered(text)).not.toContain(title);
    const file = analysis.file('file:///fixture.yaml')!;
    expect(findingsOf(file).map(({ rule }) => rule)).toEqual(findingsOf(analyse(text)).map(({ rule }) => rule));
  });

  test('the other fixes of a large file are applied at once', () => {
    const text = Array.from({ length: 60 }, (_, index) => deployment.replaceAll('worker', `worker-${index}`)).join(
      '---\n',
    );
    const analysis = new Analysis({ strict: true });
    const { applied, file } = applySafeFixes(analysis, analysis.setFile('file:///fixture.yaml', text));
    expect(applied).toHaveLength(60);
    expect(safeFixes(file)).toEqual([]);
  });
});

test.each([
  ['a block', '{{- with .Values.more }}\n          {{- toYaml . | nindent 12 }}\n          {{- end }}'],
  ['a block at the margin', '{{- if .Values.more }}\n{{ toYaml .Values.more | indent 12 }}\n{{- end }}'],
  [
    'a block behind a comment',
    '{{/* more */}}\n            {{- with .Values.more }}{{ toYaml . | nindent 12 }}{{ end }}',
  ],
])('what %s of a template puts out stays where it was', (_, block) => {
  const text = `apiVersion: v1
kind: Pod
metadata:
  name: one
spec:
  containers:
    - name: main
      image: busybox:1.36
      resources:
        requests:
          nvidia.com/gpu: 2
          ${block}
`;
  expect(offered(text).filter((title) => title.startsWith('Set the limit'))).toEqual([]);
});

test('parses a long comment after an anchor quickly', () => {
  const text = pod().replace(
    'spec:\n',
    `spec:\n  tolerations: &t\n    ${'# '.repeat(140)}\n    - key: nvidia.com/gpu\n      operator: Exists\n      value: x\n`,
  );
  expect(offered(`${text}y: *t\n`).length).toBeGreaterThan(0);
});
