import type { DocumentAnalysis } from '../../analysis.ts';
import { formatHourly } from '../../cost/money.ts';
import type { CostEstimate } from '../../cost/types.ts';
import type { Workload } from '../../model/workload.ts';
import { spanOf } from '../../yaml/cursor.ts';
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
 * The most useful step for a workload with a price: the lever with the largest saving that changes only a selector, else the finding whose
 * fix saves most, else the fact that narrows the price; undefined without either.
 * @param target where the workload is, in the file
 */
export function nextStep(
  levers: readonly Lever[],
  { assumptions }: CostEstimate,
  { document, workload, target }: Place,
): readonly HoverAction[] {
  const [best] = levers
    .flatMap(({ step, hourly, saved }) => (step?.advised ? [{ ...step, hourly, saved }] : []))
    .sort((a, b) => b.saved - a.saved);
  const offer = (why: string, label: string, at: Span): readonly HoverAction[] => [
    { kind: 'action', why, label, command: 'show-fixes', target: shiftSpan(at, document.base), text: why },
  ];
  if (best !== undefined) {
    const price = `${formatHourly(best.hourly)} per pod, ${Math.round(best.saved * 100)}% less`;
    return offer(`${best.title}: ${price}.`, 'Change…', best.at);
  }
  const [waste] = document.findings
    .filter(({ saving, fixes, span }) => saving !== null && saving > 0 && fixes.length > 0 && isWithin(span, workload))
    .sort((a, b) => (b.saving ?? 0) - (a.saving ?? 0));
  if (waste !== undefined) return offer(`${waste.message}.`, 'Fix…', waste.span);
  const missing = assumptions.find(
    (one) => one.kind === 'providers' || (one.kind === 'region' && one.from === 'default'),
  );
  if (missing === undefined) return [];
  const what = missing.kind === 'providers' ? 'provider' : 'region';
  const why = `The ${what} is unknown.`;
  const text = `${why} Set ${what} in .gpulint.yaml.`;
  return [{ kind: 'action', why, label: `Set the ${what}…`, command: 'set-up', target, text }];
}

interface Place {
  readonly document: DocumentAnalysis;
  readonly workload: Workload;
  readonly target: Span;
}

function isWithin({ start, end }: Span, { manifest }: Workload): boolean {
  const whole = spanOf(manifest.root);
  return whole.start <= start && end <= whole.end;
}
