import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Analysis, type FileAnalysis } from '../server/src/analysis.ts';
import { estimateCost } from '../server/src/cost/estimate.ts';
import { shownFindings } from '../server/src/features/shown-findings.ts';
import { parseDocument, splitDocuments, splitObjects } from '../server/src/yaml/parse.ts';
import { shiftSpan } from '../server/src/yaml/span.ts';

// The items of a long list are analysed one by one. What is said of them must be what is said when the list is read as a whole.

const fixtures = new URL('./fixtures/', import.meta.url);
const objects = ['clean', 'model', 'rules']
  .flatMap((folder) => readdirSync(new URL(`${folder}/`, fixtures)).map((name) => `${folder}/${name}`))
  .filter((name) => name.endsWith('.yaml'))
  .flatMap((name) => splitDocuments(readFileSync(new URL(name, fixtures), 'utf8').replaceAll('\r\n', '\n')))
  // Without the expected findings: a list has no comments at its top.
  .map(({ text }) =>
    text
      .replace(/^---\n/, '')
      .replace(/^#\s*\^.*\n?/gm, '')
      .trimEnd(),
  )
  .filter((text) => /^apiVersion: \S+\nkind: (?!List)/.test(text))
  // These are what makes a list be read as one.
  .filter((text) => !/\{\{|\t|<<:|gpulint-disable|[\s[{,](?:[&*][^\s&*]|![\w!])/.test(text))
  .filter((text) => parseDocument(text, 0).problems.length === 0);

/** A wrong line inside a block scalar's text does not end it, and neither does what looks like an item. */
const tricky = `apiVersion: v1
kind: ConfigMap
metadata:
  name: script
data:
  run.sh: |
    - nvidia.com/gpu: 1
    items:
    kind: List
  quoted: "a
    - b"`;

const layouts: readonly [string, (items: string) => string, number][] = [
  ['items last, indented', listOf, 2],
  [
    'items in between, not indented',
    (items) => `---\napiVersion: v1\nitems:\n${items}kind: List\nmetadata:\n  resourceVersion: ""\n`,
    0,
  ],
  [
    'comments around',
    (items) =>
      `# all\napiVersion: "v1"\nkind: List # of objects\nmetadata: {}\nitems: # these\n\n# first\n${items}# end\n`,
    4,
  ],
];

describe.each(layouts)('a long list, %s', (_, wrap, indent) => {
  const text = wrap([...objects, tricky].map((object) => itemOf(object, indent)).join(''));

  test.each(['\n', '\r\n'])('is analysed item by item, as it is as a whole (line end %j)', (lineEnd) => {
    const cut = text.replaceAll('\n', lineEnd);
    // A tab anywhere makes the list be read as one.
    const whole = `${cut}# \t${lineEnd}`;
    expect(splitObjects(cut).length).toBeGreaterThan(objects.length);
    expect(splitObjects(whole)).toHaveLength(1);
    expect(
      splitObjects(cut)
        .map((part) => part.text)
        .join(''),
    ).toBe(cut);
    const told = tell(cut);
    expect(told.findings.length).toBeGreaterThan(20);
    expect(told).toEqual(tell(whole));
  });
});

test('an edit in one item leaves the analyses of the others as they are', () => {
  // Objects that share claims depend on each other, and equal ones share an analysis.
  const alone = [...new Set(objects)].filter((object) => !/resourceClaim/i.test(object));
  const text = listOf(alone.map((object) => itemOf(object, 2)).join(''));
  const analysis = new Analysis();
  const before = analysis.setFile('file:///list.yaml', text, 1);
  const known = before.documents.map(({ findings }) => findings);
  const at = text.indexOf('nvidia.com/gpu: 1') + 'nvidia.com/gpu: '.length;
  const after = analysis.setFile('file:///list.yaml', `${text.slice(0, at)}12${text.slice(at + 1)}`, 2);
  const fresh = after.documents.filter(({ findings }, index) => findings !== known[index]);
  expect(fresh).toHaveLength(1);
});

test('a fault in one item does not reach the others', () => {
  const broken = itemOf('apiVersion: v1\nkind: Pod\nspec: [nvidia.com/gpu', 2);
  const items = objects.map((object) => itemOf(object, 2)).join('');
  const file = new Analysis({ strict: true }).setFile('file:///list.yaml', listOf(broken + items));
  const faulty = file.documents.filter(({ findings }) => findings.some(({ rule }) => rule === 'yaml-syntax'));
  expect(faulty.map(({ text }) => text)).toEqual([broken]);
  expect(file.documents.filter(({ workloads }) => workloads.length > 0).length).toBeGreaterThan(100);
});

function listOf(items: string): string {
  return `apiVersion: v1\nkind: List\nitems:\n${items}`;
}

function itemOf(object: string, indent: number): string {
  const edge = ' '.repeat(indent);
  return `${edge}- ${object.replace(/\n(?=.)/g, `\n${edge}  `)}\n`;
}

function tell(text: string) {
  const file: FileAnalysis = new Analysis({ strict: true }).setFile('file:///list.yaml', text);
  return {
    parse: file.parse,
    findings: shownFindings(file).map(({ base, finding: { rule, severity, message, span, saving, fixes } }) => ({
      rule,
      severity,
      message,
      saving,
      span: shiftSpan(span, base),
      fixes: fixes.map(({ title, safe, edits }) => ({
        title,
        safe,
        // An inserted list is indented as its neighbours are, and those may stand in another item.
        edits: edits.map(({ span, newText }) => [shiftSpan(span, base), newText.replaceAll(/\n +/g, '\n')]),
      })),
    })),
    // Objects that have nothing to do with accelerators are not looked at where they stand alone.
    workloads: file.documents.flatMap(({ workloads }) =>
      workloads
        .filter(({ podSets }) => podSets.some(({ accelerators }) => accelerators.length > 0))
        .map((workload) => [workload.kind, workload.name, workload.role, estimateCost(workload)]),
    ),
  };
}
