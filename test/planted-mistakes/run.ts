import type { DocumentAnalysis, FileAnalysis } from '../../server/src/analysis.ts';
import { defaultConfig } from '../../server/src/config.ts';
import type { Finding, Severity } from '../../server/src/rules/rule.ts';
import { analyse } from '../support/analyse.ts';
import { messageProblems } from '../support/check-message.ts';
import { configOf } from '../support/config-line.ts';
import { planters } from './index.ts';
import { type Mistake, offsetsOf, plant } from './steps.ts';

/** What became of the planted mistakes of one rule. */
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
  /** Documents in which the rule speaks already are left out and not reported as noise: for files that are clean of warnings, not of advice. */
  readonly leaveOut?: boolean;
  /** At most so many cases of one rule in one document, spread over all. */
  readonly most?: number;
  /** Called for every finding, with the text that it is about. */
  readonly onMessage?: (message: string, rule: string, text: string) => void;
}

/** Plants every mistake in every document of a file, and sees whether it is found. Adds to `scores`. */
export function plantMistakes(name: string, text: string, scores: Map<string, Score>, options: RunOptions = {}): void {
  const before = analyse(text);
  for (const [index, document] of before.documents.entries()) {
    for (const [rule, planter] of planters) {
      const noisy = document.findings.some((finding) => finding.rule === rule);
      if (noisy && options.leaveOut === true) continue;
      const score = scoreOf(scores, rule);
      const mistakes = spread(planter(document, before), options.most ?? Number.POSITIVE_INFINITY);
      if (noisy && mistakes.length > 0) score.noise.push(`${name}: ${rule} speaks before the mistake was made`);
      for (const mistake of mistakes) {
        judge({ name, before, index, document, rule, mistake, score, options });
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

/** What to hand to `plantMistakes` to review the messages that it sees; `problems` holds what is wrong with them, once each. */
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
  readonly mistake: Mistake;
  readonly score: Score;
  readonly options: RunOptions;
}

const rank: Readonly<Record<Severity, number>> = { hint: 0, info: 1, warning: 2, error: 3 };

function judge({ name, before, index, document, rule, mistake, score, options }: Case): void {
  const planted = plant(document.text, mistake.steps);
  if (planted === undefined) return;
  const label = `${name}#${index}: ${rule}: ${mistake.name}`;
  const offsets = offsetsOf(planted, mistake.place) ?? offsetsOf(document.text, mistake.place);
  const whole = `${before.text.slice(0, document.base)}${planted}${before.text.slice(document.base + document.text.length)}`;
  const config = mistake.config === undefined ? defaultConfig : configOf(`#### config: ${mistake.config}`);
  const findings = analyse(whole, config).documents[index]?.findings ?? [];
  score.cases++;
  for (const kind of document.manifests) score.kinds.add(kind.kind);
  for (const { message, rule: id } of findings) options.onMessage?.(message, id, planted);
  const own = findings.filter((finding) => finding.rule === rule);
  const hit = own.find(({ span }) => offsets !== undefined && span.start >= offsets[0] && span.start <= offsets[1]);
  if (hit === undefined) {
    const seen = findings.map((finding) => `${finding.rule} at ${finding.span.start}`).join(', ');
    score.misses.push(`${label}: expected at ${offsets?.join('-') ?? 'nowhere'}, seen: ${seen || 'nothing'}`);
    return;
  }
  score.found++;
  for (const other of news(document.findings, findings)) {
    if (other.rule === rule || rank[other.severity] < rank[hit.severity] || follows(other.rule, rule)) continue;
    score.extras.push(`${label}: also ${other.rule}: ${other.message}`);
  }
}

/**
 * Whether a mistake can bring another one that is just as true: a wrong card, count or model's name can put a model where it does not fit,
 * another machine can be too small, a container with little memory or CPU can be made to train, another tag, or a device on another pod, can leave the GPU
 * with an image for CPUs, its pods with two versions, or its server with an outdated flag, another query can have no value without pods, another value
 * can contradict another selector, a further resource can lack a quota, another server or probe can use another port, path or cache, and a program
 * can be missing in the image, or need more shared memory.
 */
function follows(other: string, planted: string): boolean {
  if (other === 'cpu-image-with-gpu') return planted === 'image-not-pinned' || planted === 'ray-head-gpu';
  if (other === 'mixed-versions') return planted === 'cuda-too-old' || planted === 'server-too-old';
  if (other === 'requests-exceed-node') return planted === 'selector-conflict';
  if (other === 'selector-conflict') return planted === 'selector-value';
  if (other === 'program-missing') return planted === 'tensor-parallel-mismatch' || planted === 'command-fails';
  if (other === 'shm-missing' || other === 'probe-missing') return planted === 'nim-without-key';
  if (other === 'server-flag') return planted === 'image-not-pinned';
  if (other === 'queue-coverage') return planted === 'rdma-memlock' || planted === 'resource-unit';
  if (other === 'model-volume-unused') return planted === 'whole-gpu-underused' || planted === 'nim-without-key';
  if (other === 'keda-trigger-zero') return planted === 'keda-query';
  if (other === 'cpu-starved-accelerators') return planted === 'idle-gpu-container';
  if (other === 'host-memory-too-small') return planted === 'idle-gpu-container' || planted === 'exit-status-hidden';
  return followsServer.has(other);
}

/** What another model or server can bring. */
const followsServer: ReadonlySet<string> = new Set([
  ...['model-does-not-fit', 'kv-cache-too-small', 'server-port', 'probe-invalid', 'gated-model-without-token'],
]);

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
