import { gpus, providerName } from '../catalog/index.ts';
import { modelKey } from '../model/options.ts';
import type { Inherited, ObjectName } from '../model/referenced.ts';
import type { ModelHint } from '../model/workload.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Assumption } from './assumption.ts';
import { formatDollars, formatHourly, formatNumber } from './money.ts';
import { modelName, requestedWords } from './requested-words.ts';

// The wording of assumptions for hovers and reports.

/** The source of each config value, by key: `.gpulint.yaml`, `user settings`. */
export type ValueOrigins = Readonly<
  Partial<
    Record<
      | 'gpu'
      | 'neuron'
      | 'tpu'
      | 'gaudi'
      | 'nodePools'
      | 'provider'
      | 'region'
      | 'capacity'
      | 'prices'
      | 'sharing.replicas',
      string
    >
  >
>;

/**
 * One line per assumption, without duplicates.
 * @param origins the source of each config value, for readers who can change it; undefined in reports
 */
export function assumptionLines(assumptions: readonly Assumption[], origins?: ValueOrigins): readonly string[] {
  return [...new Set(assumptions.map((assumption) => lineOf(assumption, origins)))];
}

function lineOf(assumption: Assumption, origins: ValueOrigins | undefined): string {
  const source = (key: keyof ValueOrigins) => origins?.[key] ?? 'the config';
  const byDefault = origins === undefined ? '' : ' (default)';
  switch (assumption.kind) {
    case 'readWith':
      return `Missing values from ${assumption.file}`;
    case 'inherited':
      return inheritedWords(assumption);
    case 'otherRevision':
      return `An earlier revision also runs (${assumption.field}): its pods are not counted`;
    case 'sageMaker':
      return 'No SageMaker prices: price of the same machine on EC2';
    case 'average':
      return `KEDA's schedule runs ${formatNumber(assumption.replicas)} replicas on average: ${formatDollars(assumption.monthly)}/month`;
    case 'unbounded':
      return `No upper bound for ${assumption.podSet === 'replica' ? '' : `${assumption.podSet} `}replicas: price for ${assumption.pods}`;
    case 'gpu':
      return assumption.nodePool === null
        ? `GPU model ${modelName(assumption.model)} from ${source(modelSource(assumption.model, origins))}`
        : `GPU model ${modelName(assumption.model)} from node pool ${assumption.nodePool} in ${source('nodePools')}`;
    case 'hint':
      return `GPU model ${assumption.models.map(modelName).join(' or ')} inferred from ${hintWords(assumption.hint)}`;
    case 'models': {
      const names = assumption.models.map(modelName);
      const all = names.length > 2 ? 'all of them' : 'both';
      if (names.length > 4)
        return `The selector matches ${names.length} models, such as ${names[0]}: the range covers all of them`;
      return `The selector matches ${names.join(' and ')}: the range covers ${all}`;
    }
    case 'unpriced': {
      const { models, provider } = assumption;
      const names = models.map(modelName);
      const which = names.length > 4 ? `${names.length} models, such as ${names[0]}` : names.join(' and ');
      return `No price known for ${which}${provider == null ? ': price for the other models' : ` at ${providerName(provider)}: price for the other choices`}`;
    }
    case 'provider':
      return `Provider ${providerName(assumption.provider)} from ${source('provider')}`;
    case 'sign': {
      const { provider, region, text } = assumption.sign;
      if (assumption.isRegion === true) return `Region ${region} inferred from ${text}`;
      return `Provider ${[providerName(provider), region].filter(Boolean).join(' ')} inferred from ${text}`;
    }
    case 'providers':
      return assumption.tool === undefined
        ? "Provider unknown: range over each provider's cheapest offer"
        : `Provider unknown: cheapest offer of each cloud that ${assumption.tool} supports`;
    case 'region':
      return assumption.from === 'config'
        ? `Region ${assumption.region} from ${source('region')}`
        : `Region unknown: price for ${assumption.region}${byDefault}`;
    case 'otherRegion':
      return `No ${assumption.pricing} price for ${assumption.region}: price for ${assumption.pricedRegion}`;
    case 'edgeZone':
      return `No prices for zone ${assumption.zone}: price for its region ${assumption.region}`;
    case 'storage':
      return "Not checked: whether the node pool's disk has the requested ephemeral-storage";
    case 'capacity':
      return assumption.from === 'config'
        ? `Capacity type ${assumption.capacity} from ${source('capacity')}`
        : `Capacity type unknown: ${assumption.capacity} price${byDefault}`;
    case 'spotFirst': {
      const [spot, onDemand] = [formatHourly(assumption.spot), formatHourly(assumption.onDemand)];
      return assumption.isFirst
        ? `Spot first: ${spot} per pod; on demand otherwise: ${onDemand}`
        : `Nodes on spot: ${spot} per pod; on demand: ${onDemand}`;
    }
    case 'unlisted':
      return `Not priced: ${unlistedWords(assumption.capacities)}, which the pods may also get`;
    case 'premium':
      return "Without the premium that GKE Autopilot adds to the machine's price";
    case 'onDemand':
      return `No price known for ${assumption.capacity} capacity: on-demand price`;
    case 'share':
      return shareWords(assumption);
    case 'stranded': {
      const { instanceType, cards, devices, unused } = assumption;
      return `${instanceType} has ${cards} devices: pods with ${formatNumber(devices)} leave ${unused} unused`;
    }
    case 'shareOfHost': {
      const { instanceType, share, of, requested, available } = assumption;
      const part = share === 1 ? 'all' : fraction(share);
      return `A pod requests ${formatNumber(requested)} of the ${formatNumber(available)} ${of} of ${instanceType}: priced as ${part} of it`;
    }
    case 'slice':
      return `A ${assumption.topology} slice has ${assumption.chips} chips, and all of them are billed`;
    case 'podsPerGpu':
      return `${assumption.pods} pods per GPU from ${source('sharing.replicas')}`;
    case 'discount':
      return `${assumption.percent}% off on-demand list prices, from ${source('prices')}`;
    case 'commitment':
      return `Committed use for ${assumption.term.replace('-', ' ')}, from ${source('prices')}`;
    case 'noCommitment':
      return `No price for committed use of ${assumption.instanceType}: on-demand price (the price sheet has committed-use prices only for Google Cloud in us-central1)`;
    case 'onPrem':
      return `Your own machine: purchase, electricity and staff from ${source('prices')}, per hour of use`;
    case 'rates':
      return `Prices for GPU, CPU and memory from ${source('prices')}, for what the pod requests`;
    case 'spotElsewhere': {
      const { provider, instanceType, cards, hourly, date } = assumption;
      const price = `${formatHourly(hourly)}${cards === 1 ? '' : ` for ${cards} devices`}`;
      return `Cheapest spot price at ${providerName(provider ?? '')}: ${instanceType}, ${price}, ${dateWords(date)}`;
    }
  }
}

/** `reserved and flex-start capacity`. */
export function unlistedWords(capacities: readonly ('reserved' | 'flex')[]): string {
  return `${capacities.map((one) => (one === 'flex' ? 'flex-start' : one)).join(' and ')} capacity`;
}

/** A Neuron device may also be set as the `gpu`. */
function modelSource(model: string, origins: ValueOrigins | undefined): 'gpu' | 'neuron' | 'tpu' | 'gaudi' {
  const key = modelKey(gpus.get(model)?.vendor);
  return origins?.[key] === undefined ? 'gpu' : key;
}

function hintWords({ basis, text }: ModelHint): string {
  const shown = shorten(text, 60);
  return basis === 'comment' ? `the comment "${shown}"` : `${basisWords[basis]} ${shown}`;
}

const basisWords: Readonly<Record<Exclude<ModelHint['basis'], 'comment'>, string>> = {
  node: 'the node label',
  pool: 'the only GPU pools, such as',
  preference: 'the preferred node label',
  toleration: 'the toleration',
  queue: 'the queue or label',
  argument: 'the value',
  name: 'the name',
};

const factWords: Readonly<Record<Inherited['fact'], string>> = {
  gpuCount: 'GPU count',
  nodeCount: 'Node count',
  replicas: 'Replicas',
  devices: 'Devices',
  nodes: 'Nodes',
  sharing: 'GPU sharing',
};

/** `Replicas from HorizontalPodAutoscaler chat`, `Machine p4d.24xlarge from NodePool gpu in pools.yaml`. */
function inheritedWords({ fact, from, machines = [], others = 0, isAdded }: Inherited): string {
  const shown = machines.slice(0, 3).join(' or ');
  const what = machines.length === 0 ? factWords[fact] : `Machine ${shown}${machines.length > 3 ? ' or others' : ''}`;
  return `${what} from ${objectWords(from)}${others === 0 ? '' : ` and ${others} more`}${isAdded ? ', added to its own' : ''}`;
}

/** `ServingRuntime vllm in ../runtimes.yaml`. */
function objectWords({ kind, name, file }: ObjectName): string {
  return `${kind} ${name}${file === null ? '' : ` in ${file}`}`;
}

function shareWords({ requested, form, share }: Extract<Assumption, { readonly kind: 'share' }>): string {
  const words = requestedWords(requested);
  const part = `priced as ${fraction(share)} of a GPU`;
  if (form === 'mig') return `${words.replace('nvidia.com/mig-', 'MIG ')} ${part}`;
  const each = requested.kind === 'resource' ? `Each ${words}` : `Each ${requested.name} device`;
  return form === 'whole' ? `${each} ${part}` : `Shared GPU: ${words} ${part}`;
}

/** `1/7`; other shares in percent. */
function fraction(share: number): string {
  const parts = 1 / share;
  return Math.abs(parts - Math.round(parts)) < 1e-6 ? `1/${Math.round(parts)}` : `${Math.round(share * 100)}%`;
}

/** `as of 2026-07-20`; `date unknown`. */
export function dateWords(date: string | null): string {
  return date === null ? 'date unknown' : `as of ${date}`;
}

/** The source of a price that the project itself pays, in reports and hovers. */
export const ownPriceWords = 'your price';
