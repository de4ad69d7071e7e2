import type { DocumentAnalysis } from '../../analysis.ts';
import {
  acceleratorResource,
  acceleratorResourceNames,
  type GpuModel,
  gpus,
  gpusByLabel,
  migTables,
} from '../../catalog/index.ts';
import type { ProjectConfig } from '../../config.ts';
import type { OwnPrices } from '../../cost/custom-prices.ts';
import { gpuPrices, priceRange } from '../../cost/gpu-prices.ts';
import { migOptions } from '../../cost/mig-options.ts';
import { formatHourly } from '../../cost/money.ts';
import type { Placement, PodSet } from '../../model/workload.ts';
import { spanOf } from '../../yaml/cursor.ts';
import { describeSlice } from '../actions/mig-picker.ts';
import type { Word } from './completion-item.ts';

/** What is known about the pod at the caret. */
export interface PodAtCaret {
  /** The GPU, if the selectors or the config name one. */
  readonly gpu: GpuModel | undefined;
  readonly placement: Placement | undefined;
  /** What the project pays, and how its nodes offer parts of GPUs. */
  readonly config: ProjectConfig;
}

/**
 * What the document says around an offset. The document has been read for its diagnostics; it is read again, without the line being typed,
 * only if that line breaks the rest.
 */
export function podAtCaret(document: DocumentAnalysis, offset: number, config: ProjectConfig): PodAtCaret {
  const known = around(document, offset, config);
  if (known.gpu !== undefined || document.document.problems.length === 0) return known;
  const { text } = document;
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const end = text.indexOf('\n', offset);
  const line = text.slice(start, end < 0 ? text.length : end);
  const rest = text.slice(0, start) + ' '.repeat(line.length) + text.slice(start + line.length);
  return around(document.withText(rest), offset, config);
}

function around({ workloads }: DocumentAnalysis, offset: number, config: ProjectConfig): PodAtCaret {
  const podSets = workloads.flatMap((workload) => workload.podSets);
  const podSet = podSets.filter(({ pod }) => spanOf(pod).start <= offset).at(-1);
  return { gpu: gpuOf(podSet, config), placement: podSet?.placement, config };
}

/** The plugins that most clusters have. A list of all would hide them. */
const offered = /^(?:(?:nvidia|amd|intel|gpu\.intel|google)\.com|volcano\.sh|habana\.ai|aws\.amazon\.com)\//;

/** Accelerator resources, and the MIG slices of the GPU with their share and price. */
export function resourceWords({ gpu, placement, config }: PodAtCaret): readonly Word[] {
  const { prices, migStrategy, sharing } = config;
  const whole = acceleratorResourceNames().flatMap((name): Word[] => {
    const resource = acceleratorResource(name);
    if (resource === undefined || resource.source === 'unsourced' || !offered.test(name)) return [];
    if (gpu !== undefined && gpu.vendor !== resource.vendor) return [];
    const price = gpu === undefined || resource.form !== 'whole' ? null : priceRange(gpuPrices(gpu, placement, prices));
    const named = gpu === undefined || resource.form !== 'whole' ? formWords[resource.form] : gpu.name;
    const share =
      name === 'nvidia.com/gpu.shared' && sharing.replicas !== null ? `1/${sharing.replicas} of the GPU` : named;
    const detail = price === null ? share : `${named}, ${formatHourly(price)}`;
    return [
      {
        text: name,
        detail,
        value: place,
        kind: 'resource',
        rank: name === 'nvidia.com/gpu' ? 0 : resource.form === 'whole' ? 1 : 100,
      },
    ];
  });
  // Only the mixed strategy gives slices names of their own.
  const isNamed = migStrategy === null || migStrategy === 'mixed';
  const slices = !isNamed ? [] : gpu === undefined ? everySlice() : slicesOf(gpu, placement, prices);
  return [...whole, ...slices];
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: this is a place of a snippet.
const place = '${1:1}';

const formWords = {
  whole: 'whole device',
  mig: 'MIG slice',
  shared: 'shared device',
  core: 'cores of a device',
  memory: 'memory of a device',
  percent: 'percent of a device',
} as const;

function slicesOf(gpu: GpuModel, placement: Placement | undefined, prices: OwnPrices): readonly Word[] {
  return migOptions(gpu.id, priceRange(gpuPrices(gpu, placement, prices))).map((option, rank) => ({
    text: option.profile.resource,
    detail: describeSlice(option, undefined, ''),
    value: '1',
    kind: 'resource',
    rank: 200 + rank,
  }));
}

/** Every slice there is, with the cards that it can be of. */
function everySlice(): readonly Word[] {
  const cards = new Map<string, string[]>();
  for (const { gpus: ids, profiles } of migTables()) {
    for (const { resource } of profiles) {
      const names = ids.map((id) => gpus.get(id)?.name ?? id);
      cards.set(resource, [...(cards.get(resource) ?? []), ...names]);
    }
  }
  return [...cards].map(([text, names], rank) => {
    const more = names.length > 2 ? ` and ${names.length - 2} more` : '';
    return {
      text,
      detail: `of ${names.slice(0, 2).join(', ')}${more}`,
      value: '1',
      kind: 'resource',
      rank: 300 + rank,
    };
  });
}

function gpuOf(podSet: PodSet | undefined, config: ProjectConfig): GpuModel | undefined {
  const requested = podSet?.accelerators.find(({ model }) => model !== null)?.model;
  if (requested != null) return gpus.get(requested);
  const selected = (podSet?.selectors ?? []).flatMap(({ key, values }) => {
    const models = values.flatMap(({ value }) => gpusByLabel(key, value));
    return new Set(models).size === 1 ? models.slice(0, 1) : [];
  });
  return selected[0] ?? (config.gpu === null ? undefined : gpus.get(config.gpu));
}
