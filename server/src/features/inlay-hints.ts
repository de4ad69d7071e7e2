import type { FileAnalysis } from '../analysis.ts';
import { requestPrice } from '../cost/capacity-prices.ts';
import { formatHourly } from '../cost/money.ts';
import { resourceName } from '../model/requested-resource.ts';
import { spanOf } from '../yaml/cursor.ts';
import { nowhere, type Span, shiftSpan } from '../yaml/span.ts';
import { acceleratedWorkloads } from './hover/gpu-words.ts';

/** A label after a value that is not part of the text. */
export interface InlayHint {
  /** In the file. */
  readonly offset: number;
  readonly label: string;
  readonly tooltip: string;
}

/** The hourly price after each accelerator count in a span of the file. No hint if the GPU or its price is unknown. */
export function inlayHints(file: FileAnalysis, within: Span): readonly InlayHint[] {
  const hints = acceleratedWorkloads(file).flatMap(({ workload, document }) =>
    workload.podSets.flatMap((podSet) => {
      const byResource = new Map([...podSet.accelerators].reverse().map((one) => [resourceName(one.requested), one]));
      return podSet.containers.flatMap(({ accelerators }) =>
        accelerators.flatMap((request): InlayHint[] => {
          const quantity = request.limit ?? request.request;
          const inPod = byResource.get(request.resource);
          const hourly = quantity && inPod && requestPrice(podSet, request, inPod, file.config.prices);
          if (quantity === undefined || hourly === undefined) return [];
          if (spanOf(quantity.at) === nowhere) return [];
          const { end } = shiftSpan(spanOf(quantity.at), document.base);
          if (end < within.start || end > within.end) return [];
          const isSpot = podSet.placement.capacity === 'spot';
          return [
            {
              offset: end,
              label: `${formatHourly(hourly)}${isSpot ? ' spot' : ''}`,
              tooltip: `${isSpot ? 'Spot' : 'On-demand'} price per pod and hour`,
            },
          ];
        }),
      );
    }),
  );
  // An alias repeats a pod at the same place: show one hint.
  const shown = new Set<string>();
  return hints.filter(({ offset, label }) => {
    const isNew = !shown.has(`${offset} ${label}`);
    shown.add(`${offset} ${label}`);
    return isNew;
  });
}
