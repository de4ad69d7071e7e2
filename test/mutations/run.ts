import type { DocumentAnalysis, FileAnalysis } from '../../server/src/analysis.ts';
import { defaultConfig } from '../../server/src/config.ts';
import type { Finding, Severity } from '../../server/src/rules/rule.ts';
import { analyse } from '../support/analyse.ts';
import { messageProblems } from '../support/check-message.ts';
import { configOf } from '../support/config-line.ts';
import { mutators } from './index.ts';
import { type Mutation, mutate, offsetsOf } from './steps.ts';

/** What became of the mutations of one rule. */
export interface Score {
  cases: number;
  found: number;
  /** Each with the file, the mistake, and what was seen instead. */
  readonly misses: string[];
  /** Other findings that came with the mistake. */
  readonly extras: string[];
  /** Findings of the rule on the text as it was. */
  readonly noise: string[];
  readonly kinds: Set<string>;
}

export interface RunOptions {
  /** Documents in which the rule speaks already are left out instead of being told: for files that are clean of warnings, not of advice. */
  readonly leaveOut?: boolean;
  /** At most so many cases of one rule in one document, spread over all. */
  readonly most?: number;
  /** Called for every finding, with the text that it is about. */
  readonly onMessage?: (message: string, rule: string, text: string) => void;
}

/** Makes every mistake in every document of a file, and sees whether it is found. Adds to `scores`. */
export function runMutations(name: string, text: string, scores: Map<string, Score>, options: RunOptions = {}): void {
  const before = analyse(text);
  for (const [index, document] of before.documents.entries()) {
    for (const [rule, mutator] of Object.entries(mutators)) {
      const noisy = document.findings.some((finding) => finding.rule === rule);
      if (noisy && options.leaveOut === true) continue;
      const score = scoreOf(scores, rule);
      const mutations = spread(mutator(document, before), options.most ?? Number.POSITIVE_INFINITY);
      if (noisy && mutations.length > 0) score.noise.push(`${name}: ${rule} speaks before the mistake was made`);
      for (const mutation of mutations) {
        judge({ name, before, index, document, rule, mutation, score, options });
      }
    }
  }
}

export function newScores(): Map<string, Score> {
  return new Map();
}

/** The table: rule, cases, found. */
export function renderScores(scores: ReadonlyMap<string, Score>): string {
  return [...scores]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(
      ([rule, { cases, found, kinds }]) =>
        `${rule.padEnd(28)} ${String(found).padStart(5)} of ${String(cases).padStart(5)}  ${kinds.size} kinds`,
    )
    .join('\n');
}

/** What to hand to `runMutations` to review the messages that it sees; `problems` holds what is wrong with them, once each. */
export function messageReview(): {
  readonly onMessage: (message: string, rule: string, text: string) => void;
  readonly problems: Set<string>;
} {
  const problems = new Set<string>();
  const onMessage = (message: string, rule: string, text: string) => {
    for (const problem of messageProblems(message, text)) problems.add(`${rule}: ${problem}: ${message}`);
  };
  return { onMessage, problems };
}

interface Case {
  readonly name: string;
  readonly before: FileAnalysis;
  readonly index: number;
  readonly document: DocumentAnalysis;
  readonly rule: string;
  readonly mutation: Mutation;
  readonly score: Score;
  readonly options: RunOptions;
}

const rank: Readonly<Record<Severity, number>> = { hint: 0, info: 1, warning: 2, error: 3 };

function judge({ name, before, index, document, rule, mutation, score, options }: Case): void {
  const mutated = mutate(document.text, mutation.steps);
  if (mutated === undefined) return;
  const label = `${name}#${index}: ${rule}: ${mutation.name}`;
  const offsets = offsetsOf(mutated, mutation.place) ?? offsetsOf(document.text, mutation.place);
  const whole = `${before.text.slice(0, document.base)}${mutated}${before.text.slice(document.base + document.text.length)}`;
  const config = mutation.config === undefined ? defaultConfig : configOf(`#### config: ${mutation.config}`);
  const findings = analyse(whole, config).documents[index]?.findings ?? [];
  score.cases++;
  for (const kind of document.manifests) score.kinds.add(kind.kind);
  for (const { message, rule: id } of findings) options.onMessage?.(message, id, mutated);
  const own = findings.filter((finding) => finding.rule === rule);
  const hit = own.find(({ span }) => offsets !== undefined && span.start >= offsets[0] && span.start <= offsets[1]);
  if (hit === undefined) {
    const seen = findings.map((finding) => `${finding.rule} at ${finding.span.start}`).join(', ');
    score.misses.push(`${label}: expected at ${offsets?.join('-') ?? 'nowhere'}, seen: ${seen || 'nothing'}`);
    return;
  }
  score.found++;
  for (const other of news(document.findings, findings)) {
    if (other.rule === rule || rank[other.severity] < rank[hit.severity]) continue;
    score.extras.push(`${label}: also ${other.rule}: ${other.message}`);
  }
}

/** Findings that were not there before, by rule and holder: positions have moved. */
function news(before: readonly Finding[], after: readonly Finding[]): readonly Finding[] {
  const keyOf = ({ rule, workload, container }: Finding) => `${rule} ${workload?.name ?? ''} ${container ?? ''}`;
  const had = new Map<string, number>();
  for (const finding of before) had.set(keyOf(finding), (had.get(keyOf(finding)) ?? 0) + 1);
  return after.filter((finding) => {
    const left = had.get(keyOf(finding)) ?? 0;
    had.set(keyOf(finding), left - 1);
    return left <= 0;
  });
}

function scoreOf(scores: Map<string, Score>, rule: string): Score {
  const score = scores.get(rule) ?? { cases: 0, found: 0, misses: [], extras: [], noise: [], kinds: new Set<string>() };
  scores.set(rule, score);
  return score;
}

function spread<T>(values: readonly T[], most: number): readonly T[] {
  if (values.length <= most) return values;
  const step = values.length / most;
  return Array.from({ length: most }, (_, index) => values[Math.floor(index * step)] as T);
}
