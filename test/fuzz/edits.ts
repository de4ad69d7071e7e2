import { Analysis } from '../../server/src/analysis.ts';
import { type ProjectConfig, parseConfig } from '../../server/src/config.ts';
import { definitions } from '../../server/src/features/definitions.ts';
import { hover } from '../../server/src/features/hover.ts';
import { references } from '../../server/src/features/references.ts';
import { costLines } from '../../server/src/features/report.ts';
import { summariseText } from '../../server/src/workspace/summary.ts';
import { privateSequences } from './private-sequences.ts';
import { sequences } from './sequences.ts';
import { fewer, shrinkText } from './shrink.ts';
import { type Look, type Problem, type Target, thrown } from './target.ts';
import { crashesOf } from './texts.ts';

/** One thing that happens to a file, or to the config of all. */
export type Step =
  /** It is opened, or its text is changed. */
  | { readonly do: 'set'; readonly uri: string; readonly text: string }
  /** It is written, and seen only by its summary while it is not open. */
  | { readonly do: 'disk'; readonly uri: string; readonly text: string }
  | { readonly do: 'close' | 'delete'; readonly uri: string }
  | { readonly do: 'config'; readonly text: string };

/** What happens, and behind which steps the answers are compared. */
export interface Sequence {
  readonly steps: readonly (Step & { readonly compare?: boolean })[];
  readonly own: boolean;
}

/** The files and the config after some steps. */
interface State {
  readonly open: Map<string, string>;
  readonly disk: Map<string, string>;
  config: ProjectConfig;
}

/** Sequences of edits over several files: what was derived step by step must equal what a new analysis derives, whatever the order. */
export const edits: Target<Sequence> = {
  name: 'edits',
  unit: 'sequences',
  inputs: sequences,
  first: privateSequences,
  async check({ steps }, look) {
    try {
      return sequenceProblems(steps, look);
    } catch (error) {
      return [thrown('edits', error)];
    }
  },
  async shrink(input, fails) {
    const steps = await fewer(input.steps, (some) => fails({ ...input, steps: some }));
    let shrunk: Sequence = { ...input, steps };
    for (const [index, step] of steps.entries()) {
      if (!('text' in step)) continue;
      const withText = (text: string): Sequence => ({
        ...shrunk,
        steps: shrunk.steps.map((one, at) => (at === index ? { ...one, text } : one)),
      });
      shrunk = withText(await shrinkText(step.text, (text) => fails(withText(text)), 400));
    }
    return shrunk;
  },
  save: ({ steps }) => ({ extension: 'json', text: `${JSON.stringify(steps, null, 2)}\n` }),
  load: (text) => ({ steps: JSON.parse(text), own: true }),
  isOwn: ({ own }) => own,
};

/** Where the answers after some step are not those of a new analysis of the same files. */
export function sequenceProblems(steps: Sequence['steps'], look: Look): readonly Problem[] {
  const analysis = new Analysis();
  const state: State = { open: new Map(), disk: new Map(), config: parseConfig('').config };
  analysis.setConfig(state.config);
  for (const [index, step] of steps.entries()) {
    look.measure.time(
      `step ${step.do}`,
      () => apply(analysis, state, step),
      () => freshAnalysis(state, false),
    );
    if (step.compare === false && index < steps.length - 1) continue;
    const now = look.measure.time(
      'answers after a step',
      () => snapshotOf(analysis, state),
      () => snapshotOf(freshAnalysis(state, false), state),
    );
    const other = index % 2 === 0;
    const difference = differenceOf(now, snapshotOf(freshAnalysis(state, other), state));
    if (difference !== undefined) {
      const message = `after step ${index + 1} (${step.do}) the answers differ from those of a new analysis ${difference.why}`;
      return [{ kind: 'difference', sign: `difference-in-${difference.what}`, message }];
    }
    const crashes = [...state.open.keys()].flatMap((uri) => crashesOf(analysis.file(uri)!));
    if (crashes.length > 0) return crashes;
  }
  return [];
}

function apply(analysis: Analysis, state: State, step: Step): void {
  if (step.do === 'config') {
    state.config = parseConfig(step.text).config;
    analysis.setConfig(state.config);
    for (const [uri, text] of state.disk) analysis.workspace.set(uri, summariseText(text, state.config), 'disk');
  } else if (step.do === 'set') {
    state.open.set(step.uri, step.text);
    analysis.setFile(step.uri, step.text);
  } else if (step.do === 'disk') {
    state.disk.set(step.uri, step.text);
    analysis.workspace.set(step.uri, summariseText(step.text, state.config), 'disk');
  } else {
    state.open.delete(step.uri);
    analysis.removeFile(step.uri);
    if (step.do === 'delete' && state.disk.delete(step.uri)) analysis.workspace.delete(step.uri, 'disk');
  }
}

/** The same files, seen for the first time and in another order. */
function freshAnalysis(state: State, backwards: boolean): Analysis {
  const analysis = new Analysis();
  analysis.setConfig(state.config);
  const turned = <T>(all: Iterable<T>): readonly T[] => (backwards ? [...all].reverse() : [...all]);
  for (const [uri, text] of turned(state.open)) analysis.setFile(uri, text);
  for (const [uri, text] of turned(state.disk)) analysis.workspace.set(uri, summariseText(text, state.config), 'disk');
  return analysis;
}

type Snapshot = ReadonlyMap<string, unknown>;

/** What the open files show, by what it is. */
function snapshotOf(analysis: Analysis, { open }: State): Snapshot {
  const answers = new Map<string, unknown>();
  for (const uri of [...open.keys()].sort()) {
    const file = analysis.file(uri)!;
    const findings = file.documents.flatMap(({ base, findings: found }) =>
      found.map(({ rule, message, severity, span, fixes }) => [
        base + span.start,
        base + span.end,
        severity,
        rule,
        message,
        fixes.map(({ title }) => title),
      ]),
    );
    answers.set(`findings of ${uri}`, findings);
    answers.set(`costs of ${uri}`, costLines(file));
    const seen = analysis.workspace.file(uri)?.summary;
    const places = [...(seen?.objects() ?? []), ...(seen?.references() ?? [])].map(({ span }) => span.start);
    for (const place of [...new Set(places)].slice(0, 6)) {
      answers.set(`hover at ${place} of ${uri}`, hover(file, place)?.blocks);
      answers.set(`definitions at ${place} of ${uri}`, definitions(analysis.workspace, file, place));
      answers.set(`references at ${place} of ${uri}`, references(analysis.workspace, file, place, true));
    }
  }
  return answers;
}

function differenceOf(now: Snapshot, fresh: Snapshot): { readonly what: string; readonly why: string } | undefined {
  for (const name of new Set([...now.keys(), ...fresh.keys()])) {
    const [mine, theirs] = [JSON.stringify(now.get(name)), JSON.stringify(fresh.get(name))];
    if (mine === theirs) continue;
    const from = Math.max(0, [...(mine ?? '')].findIndex((letter, index) => letter !== theirs?.[index]) - 80);
    const part = (text: string | undefined) => text?.slice(from, from + 240);
    return { what: name.split(' ')[0] ?? '', why: `in ${name}:\n  ${part(mine)}\n  ${part(theirs)}` };
  }
  return undefined;
}
