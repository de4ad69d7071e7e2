import {
  catalogPrices,
  gpus,
  type PriceSheet,
  type Provider,
  platforms,
  providerName,
  providers,
  regionsOf,
} from '../../catalog/index.ts';
import { type ConfigKey, configKeys, platformName } from '../../config/schema.ts';
import { listPrices } from '../../cost/custom-prices.ts';
import { gpuPrices, priceRange } from '../../cost/gpu-prices.ts';
import { formatHourly } from '../../cost/money.ts';
import { rules } from '../../rules/index.ts';
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
      key.description === '' ? { ...key, description: describeRecordKey(key.name, position.path, sheet) } : key;
    return asKeys(
      position,
      keys.map((key, rank) => keyWord(described(key), rank)),
    );
  }
  if (position.key === 'region') return asValues(position, regionWords(text, sheet));
  const values = keys.find(({ name }) => name === position.key)?.values ?? [];
  const isRule = isOfRules(position.path);
  return asValues(
    position,
    values.map((value) => ({
      text: value,
      detail:
        isRule && rules.get(position.key ?? '')?.severity === value
          ? 'default'
          : describeValue(position.key ?? '', value, sheet),
    })),
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
  const rule = isOfRules(position?.path) ? rules.get(name) : undefined;
  const values = key.values.length === 0 || key.values.length > 12 ? [] : [`One of: ${key.values.join(', ')}.`];
  return {
    span,
    blocks: [
      { kind: 'lead', text: name },
      {
        kind: 'text',
        text: rule ? `Severity of this rule, ${rule.severity} by default; off disables it.` : key.description,
      },
      ...values.map((value) => ({ kind: 'text', text: value }) as const),
    ],
  };
}

function keyWord({ name, description, shape }: ConfigKey, rank: number): Word {
  const value = shape === 'list' ? '[$1]' : shape === 'mapping' ? '\n  $1' : '';
  return { text: name, detail: description, rank, value: value.startsWith('\n') ? '' : value };
}

/** Whether the keys below a path are rules. */
function isOfRules(path: readonly string[] = []): boolean {
  return path.at(-1) === 'rules';
}

/** What is known of a key that the schema only enumerates: a GPU or a rule. */
function describeRecordKey(name: string, path: readonly string[], sheet: PriceSheet): string {
  const rule = isOfRules(path) ? rules.get(name) : undefined;
  return rule === undefined ? describeValue('gpu', name, sheet) : `${rule.topic}, ${rule.severity} by default`;
}

/** The regions with prices: of the provider that the config names, also by its platform, else of all. */
function regionWords(text: string, sheet: PriceSheet): readonly Word[] {
  const [, key, value = ''] = /^(provider|platform):[ \t]*["']?([\w-]+)/m.exec(text) ?? [];
  const provider = key === 'platform' ? platforms.get(value)?.provider : value;
  const sellers = providers.filter((one) => one === provider);
  return (sellers.length > 0 ? sellers : providers).flatMap((one) =>
    regionsOf(one as Provider, sheet).map((region, rank) => ({ text: region, detail: providerName(one), rank })),
  );
}

const modelKeys: ReadonlySet<string> = new Set(['gpu', 'neuron', 'tpu', 'gaudi']);

function describeValue(key: string, value: string, sheet: PriceSheet): string {
  if (key === 'platform' && platforms.has(value)) return platformName(value);
  const gpu = modelKeys.has(key) ? gpus.get(value) : undefined;
  if (gpu === undefined) return '';
  const range = priceRange(gpuPrices(gpu, undefined, { ...listPrices, sheet }));
  return range === null ? gpu.name : `${gpu.name}, ${formatHourly(range)} on demand`;
}
