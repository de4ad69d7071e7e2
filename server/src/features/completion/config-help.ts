import { catalogPrices, gpus, type PriceSheet, platforms } from '../../catalog/index.ts';
import { type ConfigKey, configKeys, platformName } from '../../config/schema.ts';
import { listPrices } from '../../cost/custom-prices.ts';
import { gpuPrices, priceRange } from '../../cost/gpu-prices.ts';
import { formatHourly } from '../../cost/money.ts';
import type { Span } from '../../yaml/span.ts';
import type { HoverContent } from '../hover/render.ts';
import { asKeys, asValues } from './completion.ts';
import type { Completion, Word } from './completion-item.ts';
import { yamlPosition } from './yaml-position.ts';

/** Completions at an offset of a `.gpulint.yaml`, from its schema. */
export function completeConfig(text: string, offset: number, sheet: PriceSheet = catalogPrices): readonly Completion[] {
  const position = yamlPosition(text, offset);
  if (position === undefined || position.part === 'comment') return [];
  const keys = configKeys(position.path);
  if (position.part === 'key') {
    const described = (key: ConfigKey) =>
      key.description === '' && gpus.has(key.name)
        ? { ...key, description: describeValue('gpu', key.name, sheet) }
        : key;
    return asKeys(
      position,
      keys.map((key, rank) => keyWord(described(key), rank)),
    );
  }
  const values = keys.find(({ name }) => name === position.key)?.values ?? [];
  return asValues(
    position,
    values.map((value) => ({ text: value, detail: describeValue(position.key ?? '', value, sheet) })),
  );
}

/** The description of a key of a `.gpulint.yaml`. */
export function hoverConfig(text: string, offset: number): HoverContent | undefined {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const line = /^([ \t]*(?:- +)*)([\w-]+)(?=\s*:)/.exec(text.slice(start));
  const [, indent = '', name = ''] = line ?? [];
  const span: Span = { start: start + indent.length, end: start + indent.length + name.length };
  if (line === null || offset < span.start || offset > span.end) return undefined;
  const position = yamlPosition(text, span.start);
  const key = position && configKeys(position.path).find((one) => one.name === name);
  if (key === undefined) return undefined;
  const rule = position?.path.at(-1) === 'rules';
  const values = key.values.length === 0 || key.values.length > 12 ? [] : [`One of: ${key.values.join(', ')}.`];
  return {
    span,
    blocks: [
      { kind: 'lead', text: name },
      {
        kind: 'text',
        text: rule ? 'Severity of this rule; off disables it.' : key.description,
      },
      ...values.map((value) => ({ kind: 'text', text: value }) as const),
    ],
  };
}

function keyWord({ name, description, shape }: ConfigKey, rank: number): Word {
  const value = shape === 'list' ? '[$1]' : shape === 'mapping' ? '\n  $1' : '';
  return { text: name, detail: description, rank, value: value.startsWith('\n') ? '' : value };
}

const modelKeys: ReadonlySet<string> = new Set(['gpu', 'neuron', 'tpu', 'gaudi']);

function describeValue(key: string, value: string, sheet: PriceSheet): string {
  if (key === 'platform' && platforms.has(value)) return platformName(value);
  const gpu = modelKeys.has(key) ? gpus.get(value) : undefined;
  if (gpu === undefined) return '';
  const range = priceRange(gpuPrices(gpu, undefined, { ...listPrices, sheet }));
  return range === null ? gpu.name : `${gpu.name}, ${formatHourly(range)} on demand`;
}
