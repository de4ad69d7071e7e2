import { formatNumber, plural } from '../cost/money.ts';
import type { NoTrainingRun } from '../model/training-run.ts';
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

/** `Mixed precision, 8 GPUs, weights sharded, …`. */
export function settingsWords(settings: TrainingSettings): string {
  const { precision, sharded, devices, adapter, optimizer, recomputation, batch, sequence, offload } = settings;
  return [
    precisions[precision],
    plural(devices, 'GPU'),
    sharding[sharded],
    offload === 'nothing' ? '' : offload === 'all' ? 'weights and optimizer on the host' : 'optimizer on the host',
    adapter === null ? 'all weights trained' : `LoRA of rank ${adapter.rank} on ${adapter.bits} bits`,
    optimizer,
    recomputation === 'none' ? 'no recomputation' : `${recomputation} recomputation`,
    batch === null || sequence === null ? '' : `${formatNumber(batch)} × ${formatNumber(sequence)} tokens per GPU`,
  ]
    .filter((part) => part !== '')
    .join(', ');
}

/** Undefined for containers that train no named model. */
export function whyUnknown(unknown: NoTrainingRun): string | undefined {
  switch (unknown.kind) {
    case 'noShape':
      return `the catalog has no sourced shape of ${shorten(unknown.name)}`;
    case 'unread':
      return `its settings are in ${shorten(unknown.name)}, which no file here contains`;
    case 'setting':
      return `${shorten(unknown.name)} has a value that only the cluster knows`;
    case 'devices':
      return 'the number of its GPUs is unknown';
    case 'precision':
      return 'no setting says whether weights have 16 or 32 bits';
    default:
      return undefined;
  }
}

/** Whole numbers from 10 on, as the estimate is not more exact. */
export function gib(size: number): string {
  return size >= 10 ? formatNumber(Math.round(size)) : tenth(size);
}

export function tenth(size: number): string {
  return formatNumber(Math.round(size * 10) / 10);
}
