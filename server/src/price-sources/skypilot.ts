import type { InstanceType, Provider } from '../catalog/index.ts';
import { table } from '../yaml/table.ts';
import { csvColumns, csvRecords } from './csv.ts';
import {
  type Fact,
  type FoundPrice,
  grouped,
  isPlausible,
  isWanted,
  machinesOf,
  median,
  type PriceSource,
  type SourcedFact,
  unexpected,
  type Wanted,
} from './price-source.ts';

// SkyPilot's catalog: a CSV file for each cloud, one row for each instance type and zone. Google Cloud's rows have the price of the host and, as
// rows without an instance type, that of the accelerators.

const catalog = 'https://raw.githubusercontent.com/skypilot-org/skypilot-catalog/master/catalogs/v8';
const clouds = ['aws', 'azure', 'gcp', 'lambda', 'nebius', 'oci'] as const satisfies readonly Provider[];

export const skypilot: PriceSource = {
  id: 'skypilot',
  name: "SkyPilot's catalog",
  maxFiles: clouds.length,
  start: () => clouds.map(addressOf),
  async read(url, body, wanted) {
    const cloud = clouds.find((one) => addressOf(one) === url);
    const machines = machinesOf(cloud ?? '', wanted);
    const facts: Fact[] = [];
    let columnsOf: ReturnType<typeof csvColumns> | undefined;
    for await (const record of csvRecords(body.chunks)) {
      if (columnsOf === undefined) {
        columnsOf = csvColumns(record);
        const missing = columnsOf.missing(columns);
        if (missing !== undefined) throw unexpected(`it has no column "${missing}"`);
        continue;
      }
      facts.push(...factsOf(columnsOf.row(record), machines, wanted));
    }
    if (columnsOf === undefined) throw unexpected('it is empty');
    return { facts, next: [] };
  },
  prices: (facts, wanted) =>
    clouds.flatMap((cloud) => {
      const own = facts.filter(({ url }) => url === addressOf(cloud));
      return cloud === 'gcp' ? composed(own, wanted) : plain(cloud, own);
    }),
};

const columns = ['InstanceType', 'AcceleratorName', 'AcceleratorCount', 'Price', 'SpotPrice', 'Region'];

function addressOf(cloud: string): string {
  return `${catalog}/${cloud}/vms.csv`;
}

function factsOf(
  row: (name: string) => string,
  machines: ReadonlyMap<string, unknown>,
  wanted: Wanted,
): readonly Fact[] {
  const type = row('InstanceType');
  const region = row('Region');
  const isHost = machines.has(type);
  if (!isWanted(region, wanted) || (type !== '' && !isHost)) return [];
  const what = isHost ? type : acceleratorKey(row('AcceleratorName'), Number(row('AcceleratorCount')));
  if (!isHost && !acceleratorNames.has(row('AcceleratorName'))) return [];
  const amounts = [['on-demand', row('Price')] as const, ['spot', row('SpotPrice')] as const];
  return amounts.flatMap(([pricing, text]): readonly Fact[] => {
    const hourly = Number(text);
    return text !== '' && isPlausible(hourly) ? [[what, region, pricing, hourly, '']] : [];
  });
}

function acceleratorKey(name: string, count: number): string {
  return `${count} x ${name}`;
}

function plain(provider: Provider, facts: readonly SourcedFact[]): readonly FoundPrice[] {
  return [...grouped(facts).values()].flatMap((zones): readonly FoundPrice[] => {
    const [first] = zones;
    if (first === undefined) return [];
    const [instanceType, region, pricing] = first.fact;
    const hourly = median(zones.map(({ fact }) => fact[3]));
    const { date, url: source } = first;
    return [{ provider, instanceType, region, pricing, hourly, basis: basisOf(pricing, zones.length), date, source }];
  });
}

function basisOf(pricing: FoundPrice['pricing'], zones: number): string | null {
  if (pricing === 'on-demand') return null;
  return `published, median over ${zones} ${zones === 1 ? 'zone' : 'zones'}`;
}

/** The price of a host and that of its accelerators; a machine with only one of them is left out. */
function composed(facts: readonly SourcedFact[], wanted: Wanted): readonly FoundPrice[] {
  const parts = plain('gcp', facts);
  const byKey = new Map(parts.map((part) => [JSON.stringify([part.instanceType, part.region, part.pricing]), part]));
  const machines = machinesOf('gcp', wanted);
  return parts.flatMap((host): readonly FoundPrice[] => {
    const machine = machines.get(host.instanceType);
    const name = machine === undefined ? undefined : acceleratorOf(machine);
    if (machine?.gpuCount == null || name === undefined) return [];
    const cards = byKey.get(JSON.stringify([acceleratorKey(name, machine.gpuCount), host.region, host.pricing]));
    if (cards === undefined) return [];
    return [{ ...host, hourly: Math.round((host.hourly + cards.hourly) * 1e6) / 1e6 }];
  });
}

/** SkyPilot's name of the accelerators of a Google Cloud machine. */
function acceleratorOf({ name, gpu }: InstanceType): string | undefined {
  if (name.startsWith('a3-megagpu')) return 'H100-MEGA';
  return gcpAccelerators[gpu ?? ''];
}

const gcpAccelerators = table<string | undefined>({
  'a100-40gb-sxm': 'A100',
  'a100-80gb-sxm': 'A100-80GB',
  'h100-80gb-sxm': 'H100',
  'h200-141gb-sxm': 'H200',
  b200: 'B200',
  l4: 'L4',
});
const acceleratorNames = new Set([...Object.values(gcpAccelerators), 'H100-MEGA']);
