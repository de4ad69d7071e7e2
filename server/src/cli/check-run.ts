import { pathToFileURL } from 'node:url';
import { Analysis } from '../analysis.ts';
import { ownPricesText } from '../cluster/own-prices.ts';
import type { ProjectConfig } from '../config.ts';
import { hclProblem } from '../evidence/hcl-problems.ts';
import type { ReportedPool } from '../features/cost-report/report.ts';
import { terraformPoolRows } from '../features/pool-lens.ts';
import type { PublishedView } from '../fleet/cluster-view.ts';
import type { RuleSetName } from '../rules/rule-sets.ts';
import { isTerraform, kindsOfFile } from '../workspace/terraform.ts';
import { manifestTextIn, mayHaveManifests } from '../workspace/terraform-releases.ts';
import { jsonProblem } from '../yaml/json-problem.ts';
import { AheadOfCheck } from './ahead-of-check.ts';
import { type CheckFileOptions, checkFile } from './check-file.ts';
import type { CheckCluster } from './cluster/check-cluster.ts';
import { contentOf, decode } from './file-content.ts';
import { type BadInput, type InputFile, standardInput } from './files.ts';
import { type ConfiguredInput, indexInput, indexInputs, textOf } from './index-inputs.ts';
import { type ProjectConfigs, projectConfigs } from './project-config.ts';
import { type Reach, reachOf } from './reach.ts';
import { relatedFilesWithin } from './related-file-reader.ts';
import type { CheckedFile } from './reports/format.ts';
import { lineStartsOf, positionAt } from './reports/position.ts';
import { shownPath } from './reports/text.ts';
import { sourcePath, sourceRoot } from './source-path.ts';
import { keepingWarnings, warn } from './terminal.ts';

/** What to check, and how. */
export interface CheckPathsOptions {
  /** write: apply the safe fixes to the files; show: put them into `CheckedFile.diff`. */
  readonly fix?: CheckFileOptions['fix'];
  /** Whether the report shows the lines of findings. */
  readonly withLines?: boolean;
  /** A config file; `false` for none, undefined for the nearest. */
  readonly config?: string | false;
  /** The rule set to start from, instead of the one that the config extends. */
  readonly rules?: RuleSetName;
  readonly stdinFilename?: string;
  /** Files that gpulint writes, which are not manifests if they are in a checked folder. */
  readonly own?: readonly string[];
  /** The folder that `CheckedFile.source` is relative to; by default the root of the repository. */
  readonly root?: string;
  /** Whether files of Terraform are the subject as well, so that it needs no warning that they are not checked. */
  readonly readsTerraform?: boolean;
  /** Connect to a cluster: its context, or true for the current one. */
  readonly cluster?: string | boolean;
}

/** The files of a run, with what they know about each other. Each thread of a run has its own. */
export interface CheckRun {
  /** Without the files of Terraform in a folder, except those that install charts of the project or create workloads. */
  readonly manifests: readonly ConfiguredInput[];
  check(input: ConfiguredInput): Promise<CheckedFile>;
  /** Finds the findings of files before they are checked: together, which is faster. @returns what releases the files */
  lookAhead(inputs: readonly ConfiguredInput[]): Promise<() => void>;
  /** The node pools in files of Terraform. */
  terraformPools(): readonly ReportedPool[];
  /** Sentences about errors of syntax in files of Terraform. */
  terraformProblems(): readonly string[];
  /** What is known now of the connected cluster. */
  clusterView(): PublishedView | undefined;
  /** Reads a file again that was fixed. */
  indexAgain(input: ConfiguredInput): void;
  close(): void;
}

/** A checked file of a run. Plain data, which may come from another thread. */
export interface CheckedManifest {
  /** Its index in `CheckRun.manifests`. */
  readonly index: number;
  readonly checked: CheckedFile;
  /** Sentences for standard error. */
  readonly warnings: readonly string[];
}

/** Where the files of a run come from, and their configs. */
export interface RunPlaces {
  readonly reach: Reach;
  readonly configs: ProjectConfigs;
}

export function placesOf(paths: readonly string[], options: CheckPathsOptions): RunPlaces {
  const { stdinFilename = '.', config, rules } = options;
  const reach = reachOf(paths.map((name) => (name === standardInput ? stdinFilename : name)));
  return { reach, configs: projectConfigs(reach, config, rules) };
}

/**
 * @param found all files of the run
 * @throws UsageError if a config cannot be used
 */
export async function startRun(
  found: readonly (InputFile | BadInput)[],
  { reach, configs }: RunPlaces,
  options: CheckPathsOptions,
): Promise<CheckRun> {
  const analysis = new Analysis();
  const inputs: ConfiguredInput[] = [];
  for (const input of found) {
    const place = input.file === standardInput ? (options.stdinFilename ?? '.') : input.file;
    inputs.push({ input, config: await configs.of(place) });
  }
  const kept = indexInputs(analysis, inputs, reach);
  const { fix, root = sourceRoot(), withLines = false } = options;
  const cluster = await clusterOf(analysis, options, inputs[0]?.config);
  const held = new Set<string>();
  const how = { fix, root, withLines, cluster, held, related: relatedFilesWithin(reach, analysis.workspace) };
  const textIn = (file: string, text: string) => manifestTextIn(analysis.workspace, pathToFileURL(file).href, text);
  const manifests = inputs.filter(
    ({ input }) =>
      input.folder === null || !isTerraform(input.file) || hasManifests(input.file, kept.get(input.file), textIn),
  );
  if (manifests.length === 0 && inputs.length > 0 && options.readsTerraform !== true) warn(terraformReason);
  return {
    manifests,
    async check({ config, input }) {
      analysis.setConfig(config);
      const content = await contentOf(input, reach, kept.get(input.file));
      if (content.kind !== 'text' || !isTerraform(input.file)) return checkFile(analysis, input, content, how);
      // Costs list its pools.
      const text = textIn(input.file, content.text) ?? (options.readsTerraform === true ? '' : undefined);
      return text === undefined
        ? checkFile(analysis, input, { kind: 'skipped', reason: terraformReason }, how)
        : checkFile(analysis, input, { ...content, text }, { ...how, fix: undefined, partOf: config });
    },
    async lookAhead(some) {
      const files = new AheadOfCheck(analysis, how.related, held);
      // The files that are held would be analyzed again with each config.
      const isWorthwhile =
        fix === undefined && cluster === undefined && some.every(({ config }) => config === some[0]?.config);
      try {
        for (const { config, input } of isWorthwhile ? some : []) {
          const bytes = kept.get(input.file);
          // Others are read once, by their check.
          if (bytes !== undefined && !isTerraform(input.file))
            await files.open(pathToFileURL(input.file).href, decode(bytes), config);
        }
        files.judge();
      } catch {
        // The check of the file says what is wrong with it.
      }
      return () => files.release();
    },
    terraformPools: () =>
      inputs.flatMap(({ input, config }) =>
        'problem' in input || !isTerraform(input.file)
          ? []
          : terraformPoolRows(analysis.workspace, pathToFileURL(input.file).href, config).map(({ start, ...row }) => ({
              ...row,
              path: sourcePath(root, input),
              line: 1,
            })),
      ),
    terraformProblems: () =>
      inputs.flatMap(({ input }) => {
        if ('problem' in input || !isTerraform(input.file)) return [];
        const text = textOf(input, reach, kept);
        const isRead = kindsOfFile(input.file, text).kinds.size > 0 || mayHaveManifests(text);
        const syntax = input.file.endsWith('.json') ? jsonProblem : hclProblem;
        const problem = isRead ? syntax(text) : undefined;
        if (problem === undefined) return [];
        const { line, column } = positionAt(lineStartsOf(text), problem.at);
        return [`${shownPath(input)}:${line}:${column}: ${problem.message}`];
      }),
    indexAgain: (fixed) => void indexInput(analysis, fixed, reach, kept),
    clusterView: () => cluster?.view(),
    close: () => cluster?.close(),
  };
}

/** For a file of Terraform that is named itself, and for folders without anything else. */
const terraformReason =
  'Terraform is not checked: gpulint reads node pools, regions, charts and workloads from it when it checks the YAML of its folder';

/** Whether a file of Terraform installs charts of the project or creates workloads. */
function hasManifests(
  file: string,
  bytes: Buffer | undefined,
  textIn: (file: string, text: string) => string | undefined,
): boolean {
  if (bytes === undefined || !/"(?:helm_release|kubernetes_|kubectl_manifest)/.test(bytes.toString('latin1')))
    return false;
  const text = bytes.toString();
  return mayHaveManifests(text) && textIn(file, text) !== undefined;
}

async function clusterOf(
  analysis: Analysis,
  { cluster = false }: CheckPathsOptions,
  config: ProjectConfig | undefined,
): Promise<CheckCluster | undefined> {
  if (cluster === false) return undefined;
  const { connectCheck } = await import('./cluster/check-cluster.ts');
  return connectCheck(analysis, cluster === true ? null : cluster, config === undefined ? '' : ownPricesText(config));
}

/** Neighbors have mostly the same related files, so a thread takes a few at a time. */
const filesPerTurn = 16;

/**
 * Checks files until all are taken.
 * @param taken one number, shared by the threads of a run: how many files were taken
 */
export async function* checkInTurns(run: CheckRun, taken: Int32Array): AsyncGenerator<CheckedManifest> {
  const { manifests } = run;
  for (let start = 0; start < manifests.length; ) {
    start = Atomics.add(taken, 0, filesPerTurn);
    const turn = manifests.slice(start, start + filesPerTurn);
    const release = await run.lookAhead(turn);
    for (const [offset, input] of turn.entries()) yield await checkManifest(run, input, start + offset);
    release();
  }
}

export async function checkManifest(run: CheckRun, input: ConfiguredInput, index: number): Promise<CheckedManifest> {
  const { value: checked, warnings } = await keepingWarnings(() => run.check(input));
  return { index, checked, warnings };
}
