import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { Analysis } from '../../server/src/analysis.ts';
import type { Report } from '../../server/src/cli/reports/report-schema.ts';
import { matchesGlob } from '../../server/src/config/globs.ts';
import { parseConfig, readSettings, resolveConfig } from '../../server/src/config.ts';
import { setConfigEdits } from '../../server/src/features/actions/set-config.ts';
import { completeConfig, hoverConfig } from '../../server/src/features/completion/config-help.ts';
import { applyEdits } from '../../server/src/yaml/span.ts';
import { answerProblems, type FileRequest, forFile, oddity, reportProblems } from './answers.ts';
import { runCheck } from './command-line.ts';
import { configText, hostileGlobs } from './config-texts.ts';
import type { Mutant } from './mutants.ts';
import { diceOf } from './mutants.ts';
import { shrinkText } from './shrink.ts';
import { type Look, type Problem, type Target, thrown } from './target.ts';
import { crashesOf } from './texts.ts';

/** The content of a `.gpulint.yaml`, which comes with a repository that may be untrusted. */
export const configs: Target<Mutant> = {
  name: 'configs',
  unit: 'configs',
  inputs: () => fc.record({ text: configText, own: fc.constant(true), dice: fc.nat(1 << 20) }),
  first: () => hostileGlobs.map((glob) => ({ text: `ignore: [${JSON.stringify(glob)}]\n`, own: true, dice: 0 })),
  async check({ text, dice }, look) {
    return [...configProblems(text, look, diceOf(dice)), ...(await walkProblems(text, look))];
  },
  async shrink(input, fails) {
    return { ...input, text: await shrinkText(input.text, (text) => fails({ ...input, text })) };
  },
  save: ({ text }) => ({ extension: 'yaml', text }),
  load: (text) => ({ text, own: true, dice: 0 }),
  isOwn: () => true,
};

const paths = [
  'a.yaml',
  `${'a'.repeat(60)}.yaml`,
  `${'a/'.repeat(40)}a.yaml`,
  'deploy/__proto__/x.yaml',
  'größe/🚀 {a,b}.yaml',
];

const manifest = [
  'apiVersion: apps/v1',
  'kind: Deployment',
  'metadata: {name: d}',
  'spec:',
  '  replicas: 2',
  '  template:',
  '    spec:',
  '      nodeSelector: {nvidia.com/gpu.product: NVIDIA-A100-SXM4-40GB}',
  '      containers:',
  '        - {name: c, image: vllm/vllm-openai:v0.9.0, resources: {limits: {nvidia.com/gpu: 2, nvidia.com/gpu.shared: 1}}}',
  '',
].join('\n');

function configProblems(text: string, look: Look, dice: (sides: number) => number): readonly Problem[] {
  const { measure } = look;
  try {
    const { values, problems } = measure.time('config', () => parseConfig(text));
    const wrong = oddity(problems, text);
    const found: Problem[] =
      wrong === undefined ? [] : [{ kind: 'wrong answer', sign: `${wrong.what}-in-config`, message: wrong.why }];
    for (const file of paths) {
      const config = measure.time('config of a file', () =>
        resolveConfig({ settings: readSettings(values), file: { values, path: file } }),
      );
      const analysis = new Analysis();
      analysis.setConfig(config);
      const analyzed = analysis.setFile(`file:///w/${file}`, manifest);
      const again = () => [analysis, analyzed] as const;
      const requests: readonly FileRequest[] = look.everywhere || file === 'a.yaml' ? forFile : [];
      found.push(...requests.flatMap((one) => answerProblems(one, analysis, analyzed, measure, again)));
      found.push(...crashesOf(analyzed), ...(requests.length > 0 ? reportProblems('json', analyzed) : []));
      for (const glob of values.ignore ?? []) measure.time('ignore', () => matchesGlob(file, glob));
    }
    for (const offset of offsetsIn(text, look, dice)) {
      const help = measure.time('config help', () => [completeConfig(text, offset), hoverConfig(text, offset)]);
      const odd = oddity(help, text);
      if (odd !== undefined) found.push({ kind: 'wrong answer', sign: `${odd.what}-in-config-help`, message: odd.why });
    }
    return [...found, ...setProblems(text, measure)];
  } catch (error) {
    return [thrown('config', error)];
  }
}

function offsetsIn(text: string, { everywhere }: Look, dice: (sides: number) => number): readonly number[] {
  return everywhere
    ? Array.from({ length: Math.min(text.length + 1, 400) }, (_, at) => at)
    : [dice(text.length + 1), dice(text.length + 1)];
}

/** An editor's change to a config must leave the rest of it unchanged. */
function setProblems(text: string, measure: Look['measure']): readonly Problem[] {
  const edits = measure.time('set config', () =>
    setConfigEdits(text, { gpu: 'h100-80gb-sxm', provider: 'aws', platform: null, region: null, capacity: null }),
  );
  if (edits === undefined) return [];
  const after = applyEdits(text, edits);
  const [before, now] = [parseConfig(text), parseConfig(after)];
  const damage = (message: string): Problem => ({ kind: 'damaged text', sign: 'set-config', message });
  if (now.values.gpu !== 'h100-80gb-sxm') {
    const message = `the chosen GPU was written but has no effect in ${JSON.stringify(after)}`;
    return [{ kind: 'wrong answer', sign: 'set-config-in-vain', message }];
  }
  if (now.problems.length > before.problems.length)
    return [damage(`the edit added a problem: ${now.problems[0]?.message}`)];
  const rest = ({ gpu: _, provider: __, ...values }: typeof now.values) => JSON.stringify(values);
  return rest(before.values) === rest(now.values)
    ? []
    : [damage(`other keys changed: ${rest(before.values)} became ${rest(now.values)}`)];
}

let folder: string | undefined;

/** The command line, in a folder with this config, must ignore the same files as the editor. */
async function walkProblems(text: string, { measure }: Look): Promise<readonly Problem[]> {
  const patterns = parseConfig(text).values.ignore ?? [];
  if (patterns.length === 0) return [];
  const base = folder ?? makeFolder();
  try {
    writeFileSync(path.join(base, '.gpulint.yaml'), text);
    const { stdout, hung } = await measure.timeAsync('check with a config', () => runCheck(base, ['.'], 'json', false));
    if (hung) return [{ kind: 'slow request', sign: 'hang', message: 'the check did not end' }];
    // An invalid config ends the run.
    if (stdout === '') return [];
    const found = (JSON.parse(stdout) as Report).files.map((file) => file.path);
    const expected = paths.filter((file) => !patterns.some((pattern) => matchesGlob(file, pattern)));
    if (JSON.stringify([...expected].sort()) === JSON.stringify([...found].sort())) return [];
    return [
      {
        kind: 'difference',
        sign: 'globs',
        message: `with ignore: ${JSON.stringify(patterns)} the command line checks ${JSON.stringify(found)}, the editor ${JSON.stringify(expected)}`,
      },
    ];
  } catch (error) {
    return [thrown('walk', error)];
  }
}

function makeFolder(): string {
  const made = mkdtempSync(path.join(tmpdir(), 'gpulint-fuzz-'));
  folder = made;
  mkdirSync(path.join(made, '.git'));
  process.on('exit', () => rmSync(made, { recursive: true, force: true }));
  for (const name of paths) {
    mkdirSync(path.dirname(path.join(made, name)), { recursive: true });
    writeFileSync(path.join(made, name), '');
  }
  return made;
}
