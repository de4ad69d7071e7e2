import fc from 'fast-check';
import { Analysis, type FileAnalysis } from '../../server/src/analysis.ts';
import { normalizeUri } from '../../server/src/config/places.ts';
import { parseConfig } from '../../server/src/config.ts';
import { codeLenses } from '../../server/src/features/code-lens.ts';
import { hover } from '../../server/src/features/hover/hover.ts';
import { definitions } from '../../server/src/features/navigation/definitions.ts';
import { references } from '../../server/src/features/navigation/references.ts';
import { summarize } from '../../server/src/features/report.ts';
import { chartValues } from '../../server/src/model/chart-templates.ts';
import { noRelatedFiles, type RelatedFiles } from '../../server/src/model/related-files.ts';
import { summarizeText } from '../../server/src/workspace/summary.ts';
import { blockNames, blocks } from './related-blocks.ts';

// Edits to a project as data: random edits, converted into steps that an analysis can apply, and everything that an analysis then shows.
// After any steps it must show the same as a new analysis of the same files.

export const configs = [
  '',
  'provider: aws\nregion: us-east-1\ngpu: h100-80gb-sxm\n',
  'platform: gke-standard\ncapacity: spot\nrules: {shm-missing: error}\nkubernetesVersion: "1.30"\n',
].map((text) => parseConfig(text).config);

const relatedFileSets: readonly RelatedFiles[] = [
  noRelatedFiles,
  { chart: chartValues('values.yaml', 'name: chat\nreplicas: 3\ngpus: 2\n') },
  { chart: chartValues('values.yaml', 'name: team\nreplicas: 1\ngpus: 8\n') },
].map(({ chart }) => (chart === undefined ? noRelatedFiles : { chart }));

/** A file under one spelling of its name. null: the analysis' config for all files without their own. */
export interface OpenFile {
  readonly uri: string;
  readonly text: string;
  readonly config: number | null;
  readonly relatedFiles: number;
}

export type Step =
  | ({ readonly op: 'set' } & OpenFile)
  | { readonly op: 'close'; readonly uri: string }
  | { readonly op: 'disk'; readonly uri: string; readonly text: string; readonly config: number }
  | { readonly op: 'gone'; readonly uri: string }
  | { readonly op: 'config'; readonly config: number }
  /** Requests one file, so that lazy values are computed now. */
  | { readonly op: 'look'; readonly uri: string };

/** The files after the steps so far, by normalized name. */
export interface ProjectFiles {
  readonly config: number;
  readonly open: ReadonlyMap<string, OpenFile>;
  readonly disk: ReadonlyMap<string, { readonly uri: string; readonly text: string; readonly config: number }>;
}

export const noFiles: ProjectFiles = { config: 0, open: new Map(), disk: new Map() };

export function filesAfter(files: ProjectFiles, step: Step): ProjectFiles {
  if (step.op === 'config') return { ...files, config: step.config };
  if (step.op === 'look') return files;
  const key = normalizeUri(step.uri);
  const open = new Map(files.open);
  const disk = new Map(files.disk);
  if (step.op === 'set') open.set(key, step);
  if (step.op === 'close') open.delete(key);
  if (step.op === 'disk') disk.set(key, step);
  if (step.op === 'gone') disk.delete(key);
  return { ...files, open, disk };
}

export function applyStep(analysis: Analysis, step: Step): void {
  const { workspace } = analysis;
  if (step.op === 'config') analysis.setConfig(configAt(step.config));
  if (step.op === 'set') setFile(analysis, step);
  if (step.op === 'close') analysis.removeFile(step.uri);
  if (step.op === 'disk') workspace.set(step.uri, summarizeText(step.text, configAt(step.config)), 'disk');
  if (step.op === 'gone') workspace.delete(step.uri, 'disk');
  if (step.op === 'look') shownOf(analysis, step.uri);
}

function setFile(analysis: Analysis, { uri, text, config, relatedFiles }: OpenFile): void {
  const own = config === null ? undefined : configAt(config);
  analysis.setFile(uri, text, 0, own, relatedFileSets[relatedFiles % relatedFileSets.length]);
}

function configAt(index: number) {
  return pick(configs, index);
}

/** A new analysis of the files. @param turn the order in which they are opened and read */
export function freshAnalysis(files: ProjectFiles, turn: number): Analysis {
  const analysis = new Analysis();
  analysis.setConfig(configAt(files.config));
  const steps = [
    ...[...files.open.values()].map((file) => ({ ...file, op: 'set' as const })),
    ...[...files.disk.values()].map((file) => ({ ...file, op: 'disk' as const })),
  ];
  for (const step of shuffled(steps, turn)) applyStep(analysis, step);
  return analysis;
}

/** Everything visible to users, as text by place. */
export function snapshotOf(analysis: Analysis, files: ProjectFiles): Readonly<Record<string, string>> {
  const shown: Record<string, string> = {};
  const put = (place: string, value: unknown) => {
    shown[place] = JSON.stringify(value) ?? 'undefined';
  };
  const uris = [...files.open.keys()].sort();
  for (const key of uris) {
    const uri = files.open.get(key)?.uri ?? key;
    for (const [name, value] of Object.entries(shownOf(analysis, uri))) put(`${key} ${name}`, value);
  }
  for (const [key, { uri, text, config }] of files.disk) {
    if (files.open.has(key)) continue;
    put(`${key} peeked`, found(analysis.peek(uri, text, configAt(config))));
  }
  return shown;
}

export function freshSnapshotOf(files: ProjectFiles, turn = 1): Readonly<Record<string, string>> {
  return snapshotOf(freshAnalysis(files, turn), files);
}

/** The first difference between two snapshots. */
export function difference(
  one: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>>,
): { readonly place: string; readonly is: string | undefined; readonly fresh: string | undefined } | undefined {
  for (const place of new Set([...Object.keys(one), ...Object.keys(other)]))
    if (one[place] !== other[place]) return { place, is: one[place], fresh: other[place] };
  return undefined;
}

/** Applies steps and returns the first difference from a new analysis; undefined if there is none. */
export function playSteps(steps: readonly Step[], isChecked: (index: number) => boolean = () => true) {
  const analysis = new Analysis();
  let files = noFiles;
  for (const [index, step] of steps.entries()) {
    applyStep(analysis, step);
    files = filesAfter(files, step);
    if (index + 1 < steps.length && !isChecked(index)) continue;
    const differs = difference(snapshotOf(analysis, files), freshSnapshotOf(files, index + 1));
    if (differs !== undefined) return { step: index, ...differs };
  }
  return undefined;
}

/** Everything shown for one open file. */
function shownOf(analysis: Analysis, uri: string): Readonly<Record<string, unknown>> {
  const file = analysis.file(uri);
  if (file === undefined) return { file: 'is not there' };
  const { workspace } = analysis;
  const summary = workspace.file(uri)?.summary;
  const named = [...(summary?.objects() ?? []), ...(summary?.references() ?? [])].map(({ span }) => span.start);
  const kinds = file.documents.flatMap(({ base, costed }) =>
    costed.flatMap(({ podSets, manifest }) => [
      base + manifest.root.node.span.start,
      ...podSets.flatMap((podSet) => podSet.containers.map(({ at }) => base + at.node.span.start)),
    ]),
  );
  const places = [
    ...new Set([
      ...named,
      ...kinds,
      ...[...file.text.matchAll(/\b(?:kind|nvidia|minR|maxR)/g)].map(({ index }) => index),
    ]),
  ];
  return {
    ...found(file),
    lenses: codeLenses(file),
    summary: summarize(file),
    definitions: places.map((offset) => [offset, definitions(workspace, file, offset)]),
    references: named.map((offset) => [offset, references(workspace, file, offset, true)]),
    hovers: places.map((offset) => hover(file, offset)),
  };
}

function found(file: FileAnalysis): Readonly<Record<string, unknown>> {
  const of = (workloads: FileAnalysis['documents'][number]['workloads']) =>
    workloads.map(({ kind, name, namespace, role, roleFrom, podSets, scaledBy }) => ({
      ...{ kind, name, namespace, role, roleFrom, scaledBy },
      podSets: podSets.map((podSet) => ({
        name: podSet.name,
        pods: podSet.pods,
        inherited: podSet.inherited,
        accelerators: podSet.accelerators.map(({ requested, perPod, devices }) => [requested, perPod, devices]),
      })),
    }));
  const documents = file.documents;
  return {
    parse: [file.parse, file.problem, file.hasAccelerators],
    findings: documents.map(({ base, findings, crashes }) => [
      base,
      findings.map(({ rule, severity, message, span, fixes, container, saving }) => ({
        ...{ rule, severity, message, span, container, saving },
        fixes: fixes.map(({ title, safe, edits }) => ({ title, safe, edits })),
      })),
      crashes,
    ]),
    suppressions: documents.map(({ suppressions }) => suppressions),
    workloads: documents.map(({ workloads }) => of(workloads)),
    costed: documents.map(({ costed }) => of(costed)),
    costs: documents.map(({ costed, costOf }) => costed.map(costOf)),
  };
}

/** One edit, in numbers that fit any project: each is taken modulo the number of choices. */
export interface Edit {
  readonly what: (typeof editKinds)[number];
  readonly file: number;
  readonly at: number;
  readonly to: number;
  readonly block: number;
  readonly name: number;
  readonly count: number;
}

const editKinds = [
  ...['paste', 'paste', 'paste', 'paste', 'duplicate', 'duplicate', 'drop', 'move', 'move', 'copy', 'copy', 'rename'],
  ...['rename', 'number', 'number', 'type', 'erase', 'look', 'look', 'close', 'save', 'write', 'write', 'remove'],
  ...['renameFile', 'deleteFile', 'fileConfig', 'relatedFiles', 'config', 'respell'],
] as const;

export function arbitraryEdits(max = 16): fc.Arbitrary<readonly Edit[]> {
  return editsOf(editKinds, max);
}

/** The edits that create an initial project. */
function arbitraryProject(max = 8): fc.Arbitrary<readonly Edit[]> {
  return editsOf(['paste'], max);
}

function editsOf(which: readonly Edit['what'][], max: number): fc.Arbitrary<readonly Edit[]> {
  const nat = (max: number) => fc.nat({ max });
  const edit = fc.record({
    what: fc.constantFrom(...which),
    file: nat(projectUris.length - 1),
    at: nat(4000),
    to: nat(7),
    block: nat(blocks.length - 1),
    name: nat(blockNames.length * blockNames.length * 2 - 1),
    count: nat(4),
  });
  return fc.array(edit, { minLength: 1, maxLength: max, size: 'max' });
}

/** Steps to apply: a project first, then edits. */
export function arbitrarySteps(max = 16): fc.Arbitrary<readonly Step[]> {
  return fc.tuple(arbitraryProject(), arbitraryEdits(max)).map(([project, edits]) => stepsOf([...project, ...edits]));
}

export const projectUris = [
  'file:///w/a.yaml',
  'file:///w/b.yaml',
  'file:///w/one/a.yaml',
  'file:///w/one/b.yaml',
  'file:///w/two/a.yaml',
  'file:///w/one/deep er/c.yaml',
] as const;

export function stepsOf(edits: readonly Edit[], start = noFiles): readonly Step[] {
  let files = start;
  return edits.flatMap((edit) => {
    const steps = stepsFor(edit, files);
    files = steps.reduce(filesAfter, files);
    return steps;
  });
}

function stepsFor(edit: Edit, files: ProjectFiles): readonly Step[] {
  const { what, at, to, count } = edit;
  const key = pick(projectUris, edit.file);
  const known = files.open.get(key);
  const disk = files.disk.get(key);
  const file: OpenFile = known ?? { uri: key, text: disk?.text ?? '', config: disk?.config ?? null, relatedFiles: 0 };
  const { uri } = file;
  const parts = file.text === '' ? [] : file.text.split(/^---\n/m);
  const set = (changed: Partial<OpenFile>): Step => ({ ...file, ...changed, op: 'set' });
  const write = (texts: readonly string[]): readonly Step[] => [set({ text: texts.join('---\n') })];
  const place = parts.length === 0 ? 0 : at % parts.length;
  const here = parts[place] ?? '';
  const made = pick(
    blocks,
    edit.block,
  )({
    name: pick(blockNames, edit.name),
    other: pick(blockNames, Math.floor(edit.name / blockNames.length)),
    namespaced: edit.name >= blockNames.length ** 2,
    count,
  });
  const close: Step = { op: 'close', uri };
  switch (what) {
    case 'paste':
      return write(spliced(parts, at % (parts.length + 1), 0, made));
    case 'duplicate':
      return write(spliced(parts, place, 0, here));
    case 'drop':
      return write(spliced(parts, place, 1));
    case 'move':
      return write(spliced(spliced(parts, place, 1), to % Math.max(parts.length, 1), 0, here));
    case 'copy': {
      const from = [...files.open.values(), ...files.disk.values()].flatMap(({ text }) => text.split(/^---\n/m));
      return write([...parts, from.length === 0 ? made : pick(from, at)]);
    }
    case 'rename':
      return write(
        spliced(parts, place, 1, replaced(here, /\bname: [\w-]+/g, to, `name: ${pick(blockNames, edit.name)}`)),
      );
    case 'number':
      return write(spliced(parts, place, 1, replaced(here, /\d+/g, to, String(count))));
    case 'type':
      return [set({ text: inserted(file.text, at, pick(pieces, edit.block)) })];
    case 'erase':
      return [
        set({
          text:
            file.text.slice(0, at % (file.text.length + 1)) + file.text.slice((at % (file.text.length + 1)) + 1 + to),
        }),
      ];
    case 'look':
      return [{ op: 'look', uri }];
    case 'close':
      return [close];
    case 'save':
      return [{ op: 'disk', uri, text: file.text, config: file.config ?? files.config }];
    case 'write':
      return [{ op: 'disk', uri, text: made, config: to }];
    case 'remove':
      return [{ op: 'gone', uri }];
    case 'renameFile':
      return [close, { op: 'gone', uri }, set({ uri: pick(projectUris, edit.file + 1 + to) })];
    case 'deleteFile':
      return [close, { op: 'gone', uri }];
    case 'fileConfig':
      return [set({ config: to % 4 === 3 ? null : to % 3 })];
    case 'relatedFiles':
      return [set({ relatedFiles: to % relatedFileSets.length })];
    case 'config':
      return [{ op: 'config', config: to % configs.length }];
    default:
      return [set({ uri: uri.includes('%20') ? uri.replace('%20', ' ') : uri.replace(' ', '%20') })];
  }
}

const pieces = [
  '"',
  '{',
  ':',
  '- ',
  '\t',
  '&a ',
  '*a',
  '\r',
  '{{',
  '---\n',
  '#',
  '0',
  'é',
  '\n',
  'gpu',
  'kind: NodePool\n',
];

function pick<T>(from: readonly T[], index: number): T {
  const chosen = from[index % from.length];
  if (chosen === undefined) throw new Error('nothing to pick from');
  return chosen;
}

function spliced<T>(items: readonly T[], at: number, less: number, ...more: readonly T[]): readonly T[] {
  return [...items.slice(0, at), ...more, ...items.slice(at + less)];
}

function inserted(text: string, at: number, piece: string): string {
  const place = at % (text.length + 1);
  return text.slice(0, place) + piece + text.slice(place);
}

function replaced(text: string, words: RegExp, which: number, by: string): string {
  const places = [...text.matchAll(words)];
  if (places.length === 0) return text;
  const { 0: word, index } = pick(places, which);
  return text.slice(0, index) + by + text.slice(index + word.length);
}

/** The same items in an order determined by a number. */
function shuffled<T>(items: readonly T[], turn: number): readonly T[] {
  const left = [...items];
  const out: T[] = [];
  let state = turn * 7919 + 1;
  while (left.length > 0) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    out.push(...left.splice(Math.floor((state / 2_147_483_648) * left.length), 1));
  }
  return out;
}
