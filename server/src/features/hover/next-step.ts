import type { CostEstimate } from '../../cost/types.ts';
import { type Span, shiftSpan } from '../../yaml/span.ts';
import type { Lever } from '../levers.ts';
import type { HoverAction } from './render.ts';

/** The step that gives a workload without a GPU model its price. */
export function setGpu(target: Span): HoverAction {
  return {
    kind: 'action',
    why: '',
    label: 'Set the GPU model…',
    command: 'set-gpu',
    target,
    text: 'To get a price, select the GPU model with a nodeSelector, for example nvidia.com/gpu.product, or set gpu in .gpulint.yaml.',
  };
}

/**
 * The most useful step for a workload with a price: the lever with the largest saving that changes only a selector, else the fact that makes the price
 * certain; none if there is neither.
 * @param target where the workload is, in the file
 * @param base the offset of the document
 */
export function nextStep(
  levers: readonly Lever[],
  { assumptions }: CostEstimate,
  target: Span,
  base: number,
): readonly HoverAction[] {
  const [best] = levers
    .filter(({ fix, at }) => fix !== undefined && at !== undefined)
    .sort((a, b) => b.saved - a.saved);
  if (best?.fix !== undefined && best.at !== undefined) {
    return [
      {
        kind: 'action',
        why: `${best.fix.title} (${Math.round(best.saved * 100)}% less).`,
        label: 'Change…',
        command: 'show-fixes',
        target: shiftSpan(best.at, base),
        text: `${best.fix.title} (${Math.round(best.saved * 100)}% less).`,
      },
    ];
  }
  const missing = assumptions.find(
    ({ kind, ...rest }) => kind === 'providers' || (kind === 'region' && 'from' in rest && rest.from === 'default'),
  );
  if (missing === undefined) return [];
  const [why, label, key] =
    missing.kind === 'providers'
      ? ['The provider is unknown.', 'Set the provider…', 'provider']
      : ['The region is unknown.', 'Set the region…', 'region'];
  const text = `${why} Set ${key} in .gpulint.yaml.`;
  return [{ kind: 'action', why, label, command: 'set-up', target, text }];
}
