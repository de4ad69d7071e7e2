import type { MigProfile } from '../../catalog/index.ts';
import { type MigOption, migOptions } from '../../cost/mig-options.ts';
import { formatHourly } from '../../cost/money.ts';
import type { Range } from '../../cost/types.ts';
import type { Edits } from '../../rewrite/fix.ts';
import type { SliceForm } from '../../rewrite/mig.ts';
import type { Sign } from './offered.ts';
import { heldBy, holds, oneSlice, perGpu, type Sized } from './resizable.ts';

/** One way to request less of a GPU, or more. */
export interface Fraction {
  /** Identifies it in this list. */
  readonly id: string;
  /** `L4 (g6.xlarge)`, `MIG slice 3g.40gb`. */
  readonly label: string;
  /** What it holds, and what it costs. */
  readonly description: string;
  /** What the nodes need for it; null: they offer it, as far as is known. */
  readonly needs: string | null;
  readonly hourly: Range | null;
  /** What shows that nodes offer it, if something does. */
  readonly sign?: Sign;
  /** The connected cluster has such nodes. */
  readonly offered?: boolean;
  readonly edits: () => Edits;
}

/** The slices on which the model fits, without those that are more than twice as large as needed. */
export function fittingSlices(place: Sized): readonly MigOption[] {
  const { gpu, served } = place;
  const found = migOptions(gpu.id, perGpu(place)).filter(
    ({ profile, share }) => share < 1 && holds(place, served, oneSlice(profile)),
  );
  const [least] = found;
  return found.filter(({ share }) => share <= 2 * (least?.share ?? 1));
}

export function sliceWords(
  place: Sized,
  { profile, hourly }: Pick<MigOption, 'profile' | 'hourly'>,
): Pick<Fraction, 'id' | 'label' | 'description' | 'hourly'> {
  return {
    id: `mig ${profile.name}`,
    label: `MIG slice ${profile.name}`,
    description: `${heldBy(place, oneSlice(profile))}${shareWords(hourly, 'slices')}`,
    hourly,
  };
}

/** What shows that nodes offer a slice. */
export function sliceSign(form: SliceForm, { name, resource }: MigProfile): Sign {
  if (form === 'resource') return { resource };
  return form === 'gke-label'
    ? { label: 'cloud.google.com/gke-gpu-partition-size', end: name }
    : { label: 'nvidia.com/gpu.product', end: `-MIG-${name}` };
}

/** `, $0.98/h if the other slices are used`; empty without a price. */
export function shareWords(hourly: Range | null, others: string): string {
  return hourly === null ? '' : `, ${formatHourly(hourly)} if the other ${others} are used`;
}
