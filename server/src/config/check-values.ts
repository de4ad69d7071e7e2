import {
  allInstanceTypes,
  catalogPrices,
  gpus,
  gpusNamed,
  instanceType,
  offers,
  type PriceSheet,
  type Provider,
  platforms,
  providerName,
  providers,
  regionsOf,
} from '../catalog/index.ts';
import { type ConfigValueProblem, gpusLike } from './config-problems.ts';
import { didYouMean, nearest } from './key-spelling.ts';
import { isPathBelow } from './price-file.ts';
import type { ConfigInput } from './schema.ts';

/** Well-formed values of a config that match nothing in the catalog. */
export function checkValues(input: ConfigInput, sheet: PriceSheet = catalogPrices): readonly ConfigValueProblem[] {
  const overrides = (input.overrides ?? []).flatMap((layer, index) =>
    checkLayer(layer, input, ['overrides', index], sheet),
  );
  const message =
    "'priceFile' must be the path of a file in or below this folder, such as prices.json: the file is not read";
  const place = { path: ['priceFile'], atKey: false, level: 'warning' } as const;
  const outside = input.priceFile === undefined || isPathBelow(input.priceFile) ? [] : [{ message, ...place }];
  return [...checkLayer(input, {}, [], sheet), ...outside, ...overrides];
}

type Layer = Omit<ConfigInput, 'overrides' | 'extends' | 'ignore' | 'priceFile'>;

/** @param above the layer that applies where this one has no value */
function checkLayer(
  layer: Layer,
  above: Layer,
  path: readonly (string | number)[],
  sheet: PriceSheet,
): readonly ConfigValueProblem[] {
  const found = (unknown: Unknown, keys: readonly (string | number)[], atKey = false): ConfigValueProblem => ({
    ...unknown,
    path: [...path, ...keys],
    atKey,
  });
  const provider = providerOf(layer) ?? providerOf(above);
  const region = layer.region == null ? undefined : unknownRegion(layer.region, provider, sheet);
  const unknownKeys = (key: 'instanceTypes' | 'discounts') =>
    Object.keys(layer.prices?.[key] ?? {})
      .filter((name) => instanceType(name) === undefined && !(key === 'discounts' && isProvider(name)))
      .map((name) => found(unknownInstance(name, key), ['prices', key, name], true));
  const { prices } = layer;
  const priced = (['gpus', 'onPrem'] as const).flatMap((key) =>
    Object.keys(prices?.[key] ?? {}).map((name) => ({ key, name })),
  );
  const own = priced.filter(({ name }) => !gpus.has(name));
  const stated = (name: string | null | undefined) =>
    name == null || gpus.has(name) || own.some((one) => one.name === name) ? [] : [name];
  const cards = [
    ...stated(layer.gpu).map((name) => found(unlistedGpu(name), ['gpu'])),
    ...own.map(({ key, name }) => found(unknownGpu(name, key), ['prices', key, name], true)),
    ...(layer.nodePools ?? []).flatMap((pool, index) =>
      stated(pool.gpu).map((name) => found(unknownGpu(name), ['nodePools', index, 'gpu'])),
    ),
  ];
  const ownTypes = new Set([
    ...Object.keys(layer.prices?.instanceTypes ?? {}),
    ...Object.keys(above.prices?.instanceTypes ?? {}),
  ]);
  const pools = (layer.nodePools ?? []).flatMap(({ instanceType: name }, index) =>
    name == null || instanceType(name) !== undefined || ownTypes.has(name) ? [] : [{ name, index }],
  );
  return [
    ...(region === undefined ? [] : [found(region, ['region'])]),
    ...cards,
    ...unknownKeys('instanceTypes'),
    ...unknownKeys('discounts'),
    ...pools.map(({ name, index }) => found(unknownInstance(name), ['nodePools', index, 'instanceType'])),
  ];
}

function isProvider(name: string): boolean {
  return providers.some((provider) => provider === name);
}

function providerOf({ provider, platform }: Layer): Provider | null {
  return (provider as Provider | null | undefined) ?? platforms.get(platform ?? '')?.provider ?? null;
}

type Unknown = Pick<ConfigValueProblem, 'message' | 'level' | 'near'>;

/** A name that resembles nothing in the catalog may belong to something that the catalog lacks. */
function unknown(message: string, near: readonly string[]): Unknown {
  return { message: `${message}${didYouMean(near)}`, level: near.length === 0 ? 'hint' : 'info', near };
}

/** A region without prices falls back to the provider's default region, which must not happen silently. */
function unknownRegion(region: string, provider: Provider | null, sheet: PriceSheet): Unknown | undefined {
  if (provider === null) {
    const all = new Set(offers({}, sheet).map((offer) => offer.region));
    if (all.has(region)) return undefined;
    const near = nearest(region, all);
    const message = `No provider has prices for the region '${region}', so it has no effect${didYouMean(near)}`;
    return { message, level: 'info', near };
  }
  const known = regionsOf(provider, sheet);
  const [usual] = known;
  if (usual === undefined || known.includes(region)) return undefined;
  const near = nearest(region, known);
  const listed = known.length > 6 ? `${known.slice(0, 6).join(', ')} and ${known.length - 6} more` : known.join(', ');
  const message = `No ${providerName(provider)} prices for the region '${region}': prices of ${usual} are used instead${didYouMean(near) || `; known: ${listed}`}`;
  return { message, level: 'info', near };
}

/** The default GPU is read as other names of GPUs are: `h100` is the one that clouds sell by that name. */
function unlistedGpu(name: string): Unknown {
  const meant = gpusNamed(name).map(({ id }) => id);
  if (meant.length === 0) return unknownGpu(name);
  const near = gpusLike(name);
  const others = near.some((one) => !meant.includes(one)) ? didYouMean(near) : '';
  const read = meant.map((id) => `'${id}'`).join(' or ');
  return { message: `The catalog has no GPU '${name}'; using ${read}${others}`, level: 'info', near };
}

/** A GPU of the user's own has no other price than the stated one. */
function unknownGpu(name: string, key: 'gpus' | 'onPrem' = 'gpus'): Unknown {
  return unknown(`The catalog has no GPU '${name}', so only your own price in prices.${key} applies`, gpusLike(name));
}

function unknownInstance(name: string, key: 'instanceTypes' | 'discounts' = 'instanceTypes'): Unknown {
  // A different number is a different size, which may well exist.
  const digits = (text: string) => text.replace(/\D/g, '');
  const sized = allInstanceTypes().filter((known) => digits(known.name) === digits(name));
  const alike = new Set(sized.map((known) => known.name));
  const message =
    key === 'discounts'
      ? `The catalog has no provider and no instance type '${name}', so the discount has no effect`
      : `The catalog has no instance type '${name}', so only your own price in prices.instanceTypes applies`;
  return unknown(message, nearest(name, alike).slice(0, 1));
}
