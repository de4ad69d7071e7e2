import { formatGiB, formatNumber, plural } from '../cost/money.ts';
import { estimateTraining, type TrainingEstimate, trainingFit } from '../memory/training.ts';
import type { KnownRun, NoTrainingRun, TrainingRun } from '../model/training-run.ts';
import type { TrainingSettings } from '../model/training-settings.ts';
import { shorten } from '../yaml/shorten.ts';

// The words for what training takes, for the hover, the lens and the reports.

const precisions = { mixed: 'Mixed precision', half: '16 bits', full: '32 bits' };
const sharding = {
  nothing: '',
  optimizer: 'optimizer states sharded',
  gradients: 'gradients sharded',
  parameters: 'weights sharded',
};

const recomputations = {
  none: 'no recomputation',
  selective: 'selective recomputation',
  full: 'full recomputation',
  offloaded: 'full recomputation from inputs on the host',
};

/** `Mixed precision, 8 GPUs, weights sharded, …, 2 × up to 4,096 tokens per GPU`. */
export function settingsWords({ settings, limitsLength }: Pick<TrainingRun, 'settings' | 'limitsLength'>): string {
  const { precision, sharded, devices, adapter, optimizer, recomputation, batch, sequence, offload, context } =
    settings;
  return [
    precisions[precision],
    plural(devices, 'GPU'),
    sharding[sharded],
    offload === 'nothing' ? '' : offload === 'all' ? 'weights and optimizer on the host' : 'optimizer on the host',
    adapter === null ? 'all weights trained' : `LoRA of rank ${adapter.rank} on ${adapter.bits}-bit weights`,
    optimizer,
    recomputations[recomputation],
    batch === null || sequence === null
      ? ''
      : `${formatNumber(batch)} × ${limitsLength ? 'up to ' : ''}${formatNumber(sequence)} tokens per ${context > 1 ? plural(context, 'GPU') : 'GPU'}`,
  ]
    .filter((part) => part !== '')
    .join(', ');
}

/** Undefined for containers that train no named model. */
export function whyUnknown(unknown: NoTrainingRun): string | undefined {
  switch (unknown.kind) {
    case 'noShape':
      return `the catalog has no sourced shape for ${shorten(unknown.name)}`;
    case 'unread':
      return `its settings are in ${shorten(unknown.name)}, which is not in the workspace${withAny(unknown.known)}`;
    case 'setting':
      return `${shorten(unknown.name)} has a value that is known only in the cluster${withAny(unknown.known)}`;
    case 'devices':
      return `the number of its GPUs is unknown; ${states} take at least ${overAll(unknown.known)}`;
    case 'divided':
      return `one process divides the model among its GPUs; ${states} take at least ${inAll(unknown.known)} GiB across all of them`;
    case 'precision':
      return `no setting determines whether weights have 16 or 32 bits; ${states} take ${inEither(unknown.known)} GiB per GPU`;
    default:
      return undefined;
  }
}

const states = 'weights, gradients and optimizer states';

function overAll(known: KnownRun): string {
  const { sharded, tensor, pipeline } = known.settings;
  const isCopied = sharded === 'nothing' && tensor * pipeline === 1;
  return `${inAll(known)} GiB ${isCopied ? 'on each' : 'across all of them'}`;
}

function inAll({ shape, settings }: KnownRun): string {
  return gib(estimateTraining(shape, { ...settings, ...undivided }).fixedGiB);
}

const undivided = { devices: 1, tensor: 1, pipeline: 1, expert: 1 };

function inEither({ shape, settings }: KnownRun): string {
  const [half, full] = (['half', 'full'] as const).map((precision) =>
    gib(estimateTraining(shape, { ...settings, precision }).fixedGiB),
  );
  return `${half} to ${full}`;
}

/** What the two ends of the usual methods take. */
function withAny(known: KnownRun | undefined): string {
  if (known === undefined) return '';
  const { shape, settings } = known;
  const method = { ...settings, ...undivided, offload: 'nothing', stepInBackward: false, optimizer: 'adamw' } as const;
  const take = (change: Partial<TrainingSettings>) => gib(estimateTraining(shape, { ...method, ...change }).fixedGiB);
  const small = take({ precision: 'half', adapter: { rank: 16, targets: 'all', bits: 4, embeddings: false } });
  const large = take({ precision: 'mixed', adapter: null });
  return `; its GPUs together hold ${small} GiB (QLoRA) to ${large} GiB (all weights in mixed precision) before activations`;
}

/** `trains in about 31 of 79.2 GiB per GPU`, `needs about 281 of 79.2 GiB per GPU: too much`. */
export function trainingFitWords(estimate: TrainingEstimate, totalGiB: number, haveGiB: number): string {
  const fit = trainingFit(estimate, haveGiB);
  const verb = fit === 'fits' ? 'trains in' : 'needs';
  return `${verb} about ${gib(totalGiB)} of ${formatGiB(haveGiB)} GiB per GPU${fit === 'too-large' ? ': too much' : ''}`;
}

/** Whole numbers from 10 on, as the estimate is not more exact. */
export function gib(size: number): string {
  return size >= 10 ? formatNumber(Math.round(size)) : tenth(size);
}

export function tenth(size: number): string {
  return formatNumber(Math.round(size * 10) / 10);
}
