import { Analysis, type FileAnalysis } from '../../server/src/analysis.ts';
import { type ProjectConfig, parseConfig } from '../../server/src/config.ts';
import { type Action, type ActionQuery, codeActions } from '../../server/src/features/actions/code-actions.ts';
import { type Span, shiftSpan } from '../../server/src/yaml/span.ts';
import { answerProblems, atOffset, forFile, formats, oddity, reportProblems } from './answers.ts';
import { fixAllProblems, fixProblems, offerOf, safeOffer } from './fix-checks.ts';
import { diceOf, type Mutant, mutants } from './mutants.ts';
import { shrinkText } from './shrink.ts';
import { type Look, type Problem, type Target, thrown } from './target.ts';

/** Project configs; other prices, slices and modes lead to other wording and fixes. */
export const configs: readonly ProjectConfig[] = [
  '',
  'extends: strict\nplatform: gke-standard\nregion: us-central1\ngpu: h100-80gb-sxm\nmigStrategy: mixed\n',
  'platform: eks-karpenter\nregion: us-east-1\ngpu: a100-40gb-sxm\nmigStrategy: single\ncapacity: spot\nkubernetesVersion: 1.34\n',
  'extends: strict\nsharing: {strategy: time-slicing, replicas: 4}\nkserve: {deploymentMode: Standard, version: 0.15}\n',
].map((text) => parseConfig(text).config);

/** Mutated manifests: every feature, every report and every offered fix. */
export const texts: Target<Mutant> = {
  name: 'texts',
  unit: 'mutants',
  inputs: mutants,
  first: ({ all }) =>
    all
      .filter(({ text, own }) => !own && text.length < 3000)
      .slice(0, 40)
      .map(({ text, own }) => ({ text, own, dice: 0 })),
  async check({ text, dice }, look) {
    if (!look.everywhere) return textProblems(text, configs[dice % configs.length] ?? configs[0]!, look, diceOf(dice));
    const some = configs.slice(0, atMost(configs.length, text));
    return some.flatMap((config) => textProblems(text, config, look, diceOf(dice)));
  },
  async shrink(input, fails) {
    return { ...input, text: await shrinkText(input.text, (text) => fails({ ...input, text })) };
  },
  save: ({ text }) =>
    Buffer.from(text).toString() === text
      ? { extension: 'yaml', text }
      : { extension: 'json', text: `${JSON.stringify(text)}\n` },
  load: (text, extension) => ({ text: extension === 'json' ? String(JSON.parse(text)) : text, own: true, dice: 0 }),
  isOwn: ({ own }) => own,
};

type Dice = (sides: number) => number;

function textProblems(text: string, config: ProjectConfig, look: Look, dice: Dice): readonly Problem[] {
  const uri = /^\s*[{[]/.test(text) ? 'file:///w/a.json' : 'file:///w/a.yaml';
  const open = (): readonly [Analysis, FileAnalysis] => {
    const analysis = new Analysis();
    analysis.setConfig(config);
    return [analysis, analysis.setFile(uri, text)];
  };
  let opened: readonly [Analysis, FileAnalysis];
  try {
    const analyzed = () => {
      const [analysis, file] = open();
      for (const { findings } of file.documents) void findings;
      return [analysis, file] as const;
    };
    opened = look.measure.time('analysis', analyzed, analyzed, text.length);
  } catch (error) {
    return [thrown('analysis', error)];
  }
  const [analysis, file] = opened;
  const requests = [...forFile, ...offsetsIn(file, look, dice).flatMap(atOffset)];
  const shown = look.everywhere ? formats : [formats[dice(formats.length)] ?? 'text'];
  return [
    ...requests.flatMap((one) => answerProblems(one, analysis, file, look.measure, open)),
    ...shown.flatMap((format) => reportProblems(format, file)),
    ...offered(file, look, dice, open),
    ...crashesOf(file),
  ];
}

/** Rules that threw, including while creating fixes. */
export function crashesOf(file: FileAnalysis): readonly Problem[] {
  return file.documents.flatMap(({ crashes }) =>
    crashes.map(
      ({ rule, error }): Problem => ({
        kind: 'crashed rule',
        sign: `rule-${rule}`,
        message: `${rule} threw: ${error}`,
      }),
    ),
  );
}

function offsetsIn({ text, documents }: FileAnalysis, { everywhere }: Look, dice: Dice): readonly number[] {
  if (everywhere) {
    const starts = [...text.matchAll(/\S+|$/g)].flatMap(({ index, 0: word }) => [index, index + word.length]);
    return [...new Set(starts)].slice(0, atMost(300, text));
  }
  const found = documents.flatMap(({ base, findings }) => findings.map(({ span }) => base + span.start));
  return [dice(text.length + 1), dice(text.length + 1), ...(found.length > 0 ? [found[dice(found.length)] ?? 0] : [])];
}

/** Everything offered at findings, for the whole file, and by the command line. */
function offered(
  file: FileAnalysis,
  look: Look,
  dice: Dice,
  open: () => readonly [Analysis, FileAnalysis],
): readonly Problem[] {
  const places = file.documents.flatMap(({ base, findings }) => findings.map(({ span }) => shiftSpan(span, base)));
  const requests: Span[] = look.everywhere
    ? places.slice(0, atMost(20, file.text))
    : places.length > 0
      ? [places[dice(places.length)] ?? whole(file)]
      : [];
  if (look.everywhere || dice(40) === 0) requests.push(whole(file));
  try {
    const actions = requests.flatMap((span) => {
      const query: ActionQuery = { span, only: undefined, shown: [], picker: dice(2) === 0 };
      return look.measure.time(
        'actions',
        () => codeActions(file, query),
        () => codeActions(open()[1], query),
        file.text.length,
      );
    });
    return [
      ...distinct(actions, look.everywhere ? atMost(60, file.text) : 5).flatMap((action) =>
        actionProblems(file, action),
      ),
      ...safeProblems(file, look),
    ];
  } catch (error) {
    return [thrown('actions', error)];
  }
}

function actionProblems(file: FileAnalysis, action: Action): readonly Problem[] {
  const { title, edits = [], select } = action;
  const wrong = oddity([title, edits.map(({ newText }) => newText)], file.text);
  const offer = offerOf(action);
  return [
    ...(wrong === undefined
      ? []
      : [{ kind: 'wrong answer', sign: `${wrong.what}-in-fix`, message: `${title}: ${wrong.why}` } as const]),
    ...(offer === undefined ? [] : fixProblems(file, offer)),
    ...(select !== undefined && select.end < select.start
      ? [{ kind: 'wrong answer', sign: 'span-in-fix', message: title } as const]
      : []),
  ];
}

function safeProblems(file: FileAnalysis, { measure }: Look): readonly Problem[] {
  const offer = measure.time(
    'fix all',
    () => safeOffer(file),
    () => safeOffer(file),
    file.text.length,
  );
  if (offer === undefined) return [];
  return [...fixProblems(file, offer), ...fixAllProblems(file)];
}

function distinct(actions: readonly Action[], limit: number): readonly Action[] {
  const byEdits = new Map(actions.map((action) => [JSON.stringify([action.title, action.edits]), action]));
  return [...byEdits.values()].slice(0, limit);
}

/** Checking every position of a long text takes longer than the limit for a hang, so check fewer. */
function atMost(count: number, { length }: string): number {
  return Math.max(1, Math.round(count * Math.min(1, 20_000 / length)));
}

function whole({ text }: FileAnalysis): Span {
  return { start: 0, end: text.length };
}
