import { knownAccelerator } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { asText, type Cursor, entries, getIn, isIncomplete, isUnseen, items, keyOf } from '../yaml/cursor.ts';
import { knownValues, type WrittenChart } from './chart-keys.ts';

/** Settings of GPUs in a chart's values, without the switch that the chart needs to read them. */
export interface UnswitchedGpus {
  /** The first of the settings. */
  readonly at: Cursor;
  /** The mapping that lacks `enabled`. */
  readonly holder: Cursor;
  readonly chart: string;
  readonly effect: string;
}

/**
 * The settings that a chart ignores because their `enabled` is off by default and not written.
 * https://github.com/otwld/ollama-helm/blob/main/values.yaml (2026-11-30)
 */
export function unswitchedGpus(values: Cursor, written: WrittenChart = {}): readonly UnswitchedGpus[] {
  return knownValues(values, written).flatMap(({ at, known }) => {
    const chart = known.names[0] ?? '';
    // The resources of the values apply in any case.
    if (requestsDevices(at)) return [];
    return (switches.get(chart) ?? []).flatMap(({ path, settings, needs, effect }): readonly UnswitchedGpus[] => {
      const holder = getIn(at, ...path);
      const isOpen = [at, holder].some((one) => isUnseen(one) || isIncomplete(one));
      if (holder === undefined || isOpen || getIn(holder, 'enabled') !== undefined) return [];
      // A project's own chart may have a component with this name and other keys.
      if (written.name === undefined && entries(getIn(at, ...path.slice(0, -1))).some(isForeign)) return [];
      const set = entries(holder).filter((entry) => settings.has(keyOf(entry)) && sets(entry));
      const [first] = set;
      return first === undefined || set.length < needs ? [] : [{ at: first, holder, chart, effect }];
    });
  });
}

interface Switch {
  readonly path: readonly string[];
  readonly settings: ReadonlySet<string>;
  /** How many of the settings show that a mapping is not only a part of the values. */
  readonly needs: number;
  readonly effect: string;
}

const ollama: readonly Switch[] = [
  {
    path: ['ollama', 'gpu'],
    settings: wordSet('number type nvidiaResource'),
    needs: 2,
    effect: 'the pod requests no GPU',
  },
  {
    path: ['ollama', 'gpu', 'mig'],
    settings: wordSet('devices'),
    needs: 1,
    effect: 'the pod requests no MIG devices',
  },
];

/**
 * The sizes of /dev/shm that vLLM's production stack ignores: its template mounts the volume only for an item with tensorParallelSize. Lists of values
 * replace each other as a whole, so nothing completes an item.
 * https://github.com/vllm-project/production-stack/blob/main/helm/templates/deployment-vllm-multi.yaml (2026-11-30)
 */
export function unmountedShm(values: Cursor, written: WrittenChart = {}): readonly Cursor[] {
  return knownValues(values, written).flatMap(({ at, known }) =>
    known.names[0] !== 'vllm-stack' ? [] : items(getIn(at, 'servingEngineSpec', 'modelSpec')).flatMap(sizeWithoutMount),
  );
}

function sizeWithoutMount(model: Cursor): readonly Cursor[] {
  const [size, config] = [getIn(model, 'shmSize'), getIn(model, 'vllmConfig')];
  const isOpen = [model, config].some((one) => isUnseen(one) || isIncomplete(one));
  // The pods of Ray and of groups have templates of their own.
  const isOther = ['raySpec', 'lwsSpec'].some((key) => getIn(model, key) !== undefined);
  if (size === undefined || isOpen || isOther || !sets(size)) return [];
  return getIn(config, 'tensorParallelSize') === undefined ? [size] : [];
}

/** By the chart's name. Open WebUI has Ollama's values under that chart's name. */
const switches: ReadonlyMap<string, readonly Switch[]> = new Map([
  ['ollama', ollama],
  ['open-webui', ollama.map((one) => ({ ...one, path: ['ollama', ...one.path] }))],
]);

/** Whether the part of the values with the GPUs has a key that the chart does not have there. */
function isForeign(entry: Cursor): boolean {
  return !ownKeys.has(keyOf(entry)) && !keyOf(entry).startsWith('dra');
}

const ownKeys = wordSet('gpu models insecure mountPath port', 'enabled type number nvidiaResource mig');

function requestsDevices(values: Cursor): boolean {
  const limits = [getIn(values, 'resources', 'limits'), getIn(values, 'ollama', 'resources', 'limits')];
  return limits.some((limit) => entries(limit).some((entry) => knownAccelerator(keyOf(entry)) !== undefined));
}

/** Whether a setting is more than one for others to fill in. */
function sets(entry: Cursor): boolean {
  if (entry.node.kind === 'map') return entries(entry).length > 0;
  return !/^(?:0|null)?$/.test(asText(entry) ?? '');
}
